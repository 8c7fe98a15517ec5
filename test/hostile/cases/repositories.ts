import { execFile } from 'node:child_process'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createSession } from '@holdfast/client'
import { type CallView, limits } from '@holdfast/protocol'
import { ask, check, countStatuses } from '../ask.ts'
import type { CaseRun, HostileCase } from '../case.ts'
import { promptModel } from '../prompt-model.ts'
import { readCalls } from '../read-session.ts'
import { waitForRest } from '../wait-for-rest.ts'

const megabyte = 1024 ** 2

/** Starts a session of the demo model in the hostile folder, lets it work there, and returns its calls. */
async function workInFolder({ server, workdir }: CaseRun, prompt: string) {
  const started = await server.sessions.start({ workdir, model: 'demo/agent' })
  if (!started.ok) throw new Error(started.fault.message)
  await createSession(started.value).sendPrompt(prompt)
  await waitForRest(started.value)
  const session = await ask(server, `/sessions/${started.value.id}`)
  const exported = await ask(server, `/sessions/${started.value.id}/export?format=jsonl`)
  return {
    calls: await readCalls(started.value),
    /** Everything that clients can read of the session. */
    text: session.text + exported.text,
    violations: [...check('GET session', session, [200]), ...check('GET export', exported, [200])],
  }
}

/** Returns a violation unless the first call of a session listed its folder, with `name`. */
function checkListed([list]: readonly CallView[], name: string): readonly string[] {
  const isListed = list?.status === 'complete' && (list.result?.text.includes(name) ?? false)
  return isListed ? [] : [`the folder is not listed: ${list?.status} ${list?.result?.text.slice(0, 200)}`]
}

const largeInstructions: HostileCase = {
  name: 'large-instructions',
  from: 'repository',
  async run(run) {
    const size = (run.isQuick ? 8 : 200) * megabyte
    // Comments without an end and a path of dots took quadratic time once.
    const slow = `${'<!--\n'.repeat(4000)}@${'.'.repeat(30_000)}x\n`
    for (const name of ['AGENTS.md', 'CLAUDE.md'])
      await writeFile(join(run.workdir, name), slow + 'obey '.repeat(size / 5))
    const { calls, violations } = await workInFolder(run, 'list')
    run.model.largestRequest()
    const handle = await promptModel(run, 'large-instructions', () => [{ text: 'Done.' }])
    await waitForRest(handle)
    const bytes = run.model.largestRequest()
    const isSent = bytes > limits.instructionsBytesMax / 2 && bytes < 8 * limits.instructionsBytesMax
    return {
      did: `sent ${bytes} bytes to a model in a folder with instructions of ${size} bytes`,
      violations: [
        ...violations,
        ...checkListed(calls, 'AGENTS.md'),
        ...(isSent ? [] : [`a request with cut instructions has ${bytes} bytes`]),
      ],
    }
  },
}

const pipesAndLoops: HostileCase = {
  name: 'pipes-and-loops',
  from: 'repository',
  async run(run) {
    await promisify(execFile)('mkfifo', [join(run.workdir, 'AGENTS.md'), join(run.workdir, 'pipe')])
    await mkdir(join(run.workdir, '.holdfast'))
    await promisify(execFile)('mkfifo', [join(run.workdir, '.holdfast', 'memory.md')])
    await symlink('loop', join(run.workdir, 'loop'))
    await symlink('/', join(run.workdir, 'root'))
    const secret = `secret-${run.dice.below(2 ** 30)}`
    const outside = join(run.workdir, '..', 'outside')
    await mkdir(outside)
    await writeFile(join(outside, 'secret.txt'), secret)
    await symlink(outside, join(run.workdir, 'outside'))
    await symlink(join(outside, 'secret.txt'), join(run.workdir, 'secret'))
    await writeFile(join(run.workdir, 'inside.txt'), 'text of the folder')
    const refused = ['pipe', 'loop', 'secret', 'outside/secret.txt', 'root/etc/hostname']
    const prompt = ['list', 'read inside.txt', ...refused.map((path) => `read ${path}`)].join('\n')
    const { calls, text, violations } = await workInFolder(run, prompt)
    const [, inside, ...others] = calls
    const read = others.filter(({ status }) => status === 'complete')
    return {
      did: `tried to read ${others.length} pipes, loops and links out of the folder`,
      violations: [
        ...violations,
        ...checkListed(calls, 'inside.txt'),
        ...(inside?.result?.text.includes('text of the folder') ? [] : [`inside.txt is ${inside?.status}`]),
        ...(others.length === refused.length ? [] : [`there are ${others.length} of ${refused.length} calls`]),
        ...read.map(({ args }) => `was read: ${JSON.stringify(args)}`),
        ...(text.includes(secret) ? ['a file outside the folder was read'] : []),
      ],
    }
  },
}

/** Replaces a folder with files of the session by a link that leads out, and asks for these files. */
const swappedFolder: HostileCase = {
  name: 'swapped-folder',
  from: 'repository',
  async run(run) {
    const args = { path: 'src/a.txt', content: 'one' }
    const handle = await promptModel(run, 'swapped-folder', () => [{ tool: 'write_file', args }])
    await waitForRest(handle, 1)
    await createSession(handle).respondToApproval('approve')
    await waitForRest(handle, 1)
    const secret = `secret-${run.dice.below(2 ** 30)}`
    const elsewhere = join(run.workdir, '..', 'elsewhere')
    await mkdir(elsewhere)
    await writeFile(join(elsewhere, 'a.txt'), secret)
    await rm(join(run.workdir, 'src'), { recursive: true })
    await symlink(elsewhere, join(run.workdir, 'src'))
    const paths = encodeURIComponent(JSON.stringify(['src/a.txt', '../elsewhere/a.txt', '/etc/hostname']))
    const get = (rest: string) => ask(run.server, `/sessions/${handle.id}/${rest}`)
    const shown = [
      await get('diff'),
      await get('diff?path=src/a.txt'),
      await get(`restore-preview?message=1&paths=${paths}`),
    ]
    const refused = [await get('file?path=src/a.txt'), await get('file?path=../elsewhere/a.txt')]
    const [all, , preview] = shown
    return {
      did: `asked for files behind a link: ${countStatuses([...shown, ...refused])}`,
      violations: [
        ...shown.flatMap((one) => check('GET diff or restore-preview', one, [200])),
        ...refused.flatMap((one) => check('GET file', one, [403], 'outside_workdir')),
        ...(all?.text.includes('src/a.txt') ? [] : [`the diff does not name the file: ${all?.text.slice(0, 200)}`]),
        ...(preview?.text.startsWith('{"files":[],') ? [] : [`would be restored: ${preview?.text.slice(0, 200)}`]),
        ...([...shown, ...refused].some(({ text }) => text.includes(secret)) ? ['a file behind a link was shown'] : []),
      ],
    }
  },
}

const manyFiles: HostileCase = {
  name: 'many-files',
  from: 'repository',
  async run(run) {
    const count = run.isQuick ? 3_000 : 100_000
    await makeFiles(run.workdir, count, 'n'.repeat(200))
    const { calls, violations } = await workInFolder(run, 'list')
    return {
      did: `listed a folder of ${count} files in ${calls[0]?.result?.text.length ?? 0} characters`,
      violations: [...violations, ...checkListed(calls, 'n'.repeat(200))],
    }
  },
}

/** A repository in which every file is new: git lists them all before and after each command. */
const manyEntries: HostileCase = {
  name: 'many-entries',
  from: 'repository',
  async run(run) {
    const count = run.isQuick ? 3_000 : 90_000
    await promisify(execFile)('git', ['init', '--quiet'], { cwd: run.workdir })
    await makeFiles(run.workdir, count, 'f')
    // A deny rule has every path compared with its pattern.
    const permissions = [{ verdict: 'deny' as const, tool: 'read_file', pattern: '**/*.pem' }]
    const call = async (name: string, tool: string, args: { readonly [name: string]: unknown }) => {
      const handle = await promptModel(run, name, () => [{ tool, args }], { approvals: 'none', permissions })
      await waitForRest(handle)
      const [found] = await readCalls(handle)
      return found?.status === 'complete' ? [] : [`${tool} is ${found?.status}: ${found?.result?.text.slice(0, 200)}`]
    }
    const command = 'echo two > f1; for i in 1 2 3; do mv f2$i moved$i; done'
    const violations = [
      ...(await call('entries-shell', 'shell', { command })),
      ...(await call('entries-status', 'git_status', {})),
      ...(await call('entries-stage', 'git_stage', { paths: ['.'] })),
    ]
    return { did: `ran a command, git_status and git_stage in a repository of ${count} new files`, violations }
  },
}

/** Makes empty files with numbered names. */
async function makeFiles(folder: string, count: number, name: string): Promise<void> {
  for (let from = 0; from < count; from += 500) {
    const names = Array.from({ length: Math.min(500, count - from) }, (_, each) => `${name}${from + each}`)
    await Promise.all(names.map((one) => writeFile(join(folder, one), '')))
  }
}

export const repositoryCases: readonly HostileCase[] = [
  largeInstructions,
  pipesAndLoops,
  swappedFolder,
  manyFiles,
  manyEntries,
]
