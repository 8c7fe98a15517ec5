import { execFile } from 'node:child_process'
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createSession } from '@holdfast/client'
import type { Permission } from '@holdfast/protocol'
import type { CaseRun, HostileCase } from '../case.ts'
import type { Block } from '../hostile-model.ts'
import { promptModel } from '../prompt-model.ts'
import { readCalls } from '../read-session.ts'
import { waitForRest } from '../wait-for-rest.ts'

/** A session may have so many. */
const rulesMax = 500

/** Makes empty files with numbered names. */
async function makeFiles(folder: string, count: number, name: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (let from = 0; from < count; from += 500) {
    const names = Array.from({ length: Math.min(500, count - from) }, (_, each) => `${name}${from + each}`)
    await Promise.all(names.map((one) => writeFile(join(folder, one), '')))
  }
}

/** Makes each call in a session with these rules, and returns a violation for each that did not end as `isRight` says. */
async function callWith(
  run: CaseRun,
  name: string,
  calls: readonly Block[],
  permissions: readonly Permission[],
  isRight: (status: string, text: string) => boolean,
): Promise<readonly string[]> {
  const violations: string[] = []
  for (const [index, call] of calls.entries()) {
    const options = { approvals: 'none' as const, permissions: [...permissions] }
    const handle = await promptModel(run, `${name}-${index}`, () => [call], options)
    await waitForRest(handle, 1)
    const [found] = await readCalls(handle)
    const { status = 'missing', result } = found ?? {}
    if (status === 'missing' || !isRight(status, result?.text ?? ''))
      violations.push(`${name}: ${JSON.stringify(call).slice(0, 100)} is ${status}: ${result?.text.slice(0, 200)}`)
    await createSession(handle).abort()
  }
  return violations
}

/** Patterns that take as many steps as a pattern can. None of them matches a file of the case. */
const globs = [
  (index: number) => `**/*a*a*a*a*a*a*a*a*a*a*a*a*${index}b`,
  (index: number) => `${'{a*,a*}'.repeat(12)}${index}b`,
  (index: number) => `${'[a]*'.repeat(20)}${index}b`,
  (index: number) => `${'**/'.repeat(20)}${index}b`,
  (index: number) => `*${'?'.repeat(40)}[^0-9]${index}b`,
  (index: number) => `${'*a'.repeat(400)}${index}b`,
]

/** Lists and searches many files, each of which is compared with hostile patterns. */
const hostileGlobs: HostileCase = {
  name: 'hostile-globs',
  from: 'repository',
  async run(run) {
    const files = run.isQuick ? 100 : 3000
    const permissions = Array.from({ length: rulesMax }, (_, index) => ({
      verdict: 'deny' as const,
      tool: 'read_file',
      pattern: globs[index % globs.length]?.(index) ?? '',
    }))
    await makeFiles(join(run.workdir, 'aaaa/aaaa'), files, 'a'.repeat(60))
    const searches = [
      { tool: 'find', args: { pattern: '**/*', limit: 10 } },
      { tool: 'grep', args: { pattern: '^$', mode: 'files' } },
      { tool: 'read_file', args: { path: `aaaa/aaaa/${'a'.repeat(60)}1` } },
      { tool: 'write_file', args: { path: 'aaaa/new.txt', content: '' } },
    ]
    const long = [4000, 2000, 500].map((chars) => ({ tool: 'read_file', args: { path: 'a'.repeat(chars) } }))
    return {
      did: `compared ${files} files and paths of up to 4000 characters with ${permissions.length} hostile patterns`,
      violations: [
        ...(await callWith(run, 'hostile-globs', searches, permissions, (status) => status === 'complete')),
        // Not compared, so a person is asked; or the file is not there.
        ...(await callWith(run, 'long-paths', long, permissions, (status) => status !== 'complete')),
      ],
    }
  },
}

/** Compares all rules that a session may have with many files and with many commands. */
const manyRules: HostileCase = {
  name: 'many-rules',
  from: 'repository',
  async run(run) {
    const [files, commands] = run.isQuick ? [100, 20] : [5000, 300]
    const deny = (tool: string, patternOf: (index: number) => string) =>
      Array.from({ length: rulesMax }, (_, index) => ({ verdict: 'deny' as const, tool, pattern: patternOf(index) }))
    await promisify(execFile)('git', ['init', '--quiet'], { cwd: run.workdir })
    await makeFiles(join(run.workdir, 'src/some/folder'), files, 'file-')
    const searches = [
      { tool: 'find', args: { pattern: '**/*', limit: 10 } },
      { tool: 'grep', args: { pattern: '^$', mode: 'files' } },
      { tool: 'git_status', args: {} },
    ]
    const rulesForFiles = deny('read_file', (index) => `**/*[s]ecret${index}*/**/*.key`)
    const command = (program: string) => Array.from({ length: commands }, () => program).join('; ')
    const shells = ['true a b', 'true \'a b\' "c" | true'].map((one) => ({
      tool: 'shell',
      args: { command: command(one) },
    }))
    const rulesForCommands = deny('shell', (index) => `prog${index} ** -x* **`)
    const isDone = (status: string) => status === 'complete'
    return {
      did: `compared ${files} files and ${commands} commands with ${rulesMax} rules`,
      violations: [
        ...(await callWith(run, 'rules-files', searches, rulesForFiles, isDone)),
        // A command with too many parts is asked about, so it does not run here.
        ...(await callWith(run, 'rules-commands', shells, rulesForCommands, (status) => status !== 'denied')),
      ],
    }
  },
}

/** A repository whose `.git` has as many entries and settings as git tools take, and one with more. */
const largeGitFolder: HostileCase = {
  name: 'large-git-folder',
  from: 'repository',
  async run(run) {
    const tools = ['git_status', 'git_diff', 'git_log'].map((tool) => ({ tool, args: {} }))
    const write = { tool: 'write_file', args: { path: 'b.txt', content: 'two\n' } }
    const git = (...args: readonly string[]) => promisify(execFile)('git', args, { cwd: run.workdir })
    await git('init', '--quiet')
    await writeFile(join(run.workdir, 'a.txt'), 'one\n')
    await git('add', 'a.txt')
    await git('-c', 'user.name=a', '-c', 'user.email=a@b.example', 'commit', '--quiet', '--message', 'first')
    const config = join(run.workdir, '.git/config')
    const settings = (count: number, name: string) =>
      Array.from({ length: count }, (_, index) => `[${name} "${index}"]\n\tkey = ${'v'.repeat(40)}\n`).join('')
    await makeFiles(join(run.workdir, '.git'), run.isQuick ? 300 : 1900, 'entry-')
    await appendFile(config, settings(run.isQuick ? 1000 : 9000, 'some'))
    const isDone = (status: string) => status === 'complete'
    const isRefused = (status: string, text: string) => status === 'error' && text.startsWith('too_large: ')
    const fitting = await callWith(run, 'git-fits', [...tools, write], [], isDone)
    const more = run.isQuick ? 11_000 : 200_000
    await appendFile(config, settings(more, 'other'))
    const manySettings = await callWith(run, 'git-settings', tools, [], isRefused)
    await makeFiles(join(run.workdir, '.git'), run.isQuick ? 2500 : 100_000, 'more-')
    const manyEntries = await callWith(run, 'git-entries', tools, [], isRefused)
    return {
      did: `used a repository whose .git has up to ${more} settings and many entries`,
      violations: [...fitting, ...manySettings, ...manyEntries],
    }
  },
}

export const ruleCases: readonly HostileCase[] = [hostileGlobs, manyRules, largeGitFolder]
