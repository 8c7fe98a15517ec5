import { execFile } from 'node:child_process'
import { access, appendFile, chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createSession } from '@holdfast/client'
import { orThrow } from '@holdfast/protocol'
import type { HostileCase } from '../case.ts'
import { promptModel } from '../prompt-model.ts'
import { readCalls } from '../read-session.ts'
import { waitForRest } from '../wait-for-rest.ts'

/** Names programs in the configuration of a repository, in its hooks and in its attributes. Reading must run none. */
const hostileConfig: HostileCase = {
  name: 'git-config',
  from: 'repository',
  async run(run) {
    const marker = join(run.workdir, '..', 'ran')
    const program = join(run.workdir, 'program.sh')
    await writeFile(program, `#!/bin/sh\necho "$0 $*" >> '${marker}'\ncat "$1" 2>/dev/null\n`)
    await chmod(program, 0o755)
    const git = (...args: readonly string[]) => promisify(execFile)('git', args, { cwd: run.workdir })
    await git('init', '--quiet')
    await writeFile(join(run.workdir, 'a.txt'), 'one\n')
    await git('add', 'a.txt')
    await git('-c', 'user.name=a', '-c', 'user.email=a@b.example', 'commit', '--quiet', '--message', 'first')
    await writeFile(join(run.workdir, 'a.txt'), 'two\n')
    await writeFile(join(run.workdir, '.gitattributes'), '* diff=evil merge=evil\n')
    const settings = {
      'core.fsmonitor': program,
      'core.pager': program,
      'core.editor': program,
      'core.sshCommand': program,
      'diff.evil.textconv': program,
      'diff.evil.command': program,
      'diff.external': program,
      'alias.status': `!${program}`,
      'alias.diff': `!${program}`,
      'alias.log': `!${program}`,
      'core.hooksPath': 'run-by-git',
      'credential.helper': program,
      'log.showSignature': 'true',
    }
    for (const [name, value] of Object.entries(settings)) await git('config', name, value)
    for (const folder of ['run-by-git', '.git/hooks']) {
      await mkdir(join(run.workdir, folder), { recursive: true })
      for (const hook of ['post-index-change', 'pre-commit', 'reference-transaction']) {
        await writeFile(join(run.workdir, folder, hook), `#!/bin/sh\necho hook >> '${marker}'\n`)
        await chmod(join(run.workdir, folder, hook), 0o755)
      }
    }
    const tools = ['git_status', 'git_diff', 'git_log']
    const handle = await promptModel(run, 'git-config', () => tools.map((tool) => ({ tool, args: {} })))
    await waitForRest(handle, 1)
    // A value with many blanks: a file tool reads the settings before anyone is asked.
    const config = join(run.workdir, '.git/config')
    await appendFile(config, `[evil]\n\tpath = "a${' '.repeat(run.isQuick ? 60_000 : 250_000)}b"\n`)
    const written = { tool: 'write_file', args: { path: 'run-by-git/added', content: '' } }
    const write = await promptModel(run, 'git-write', () => [written])
    await waitForRest(write, 1)
    const [question] = orThrow(await write.snapshot()).view.pendingApprovals
    // What a command changed is found with git: that must run no program either.
    const shell = await promptModel(run, 'git-shell', () => [{ tool: 'shell', args: { command: 'echo two > b.txt' } }])
    await waitForRest(shell, 1)
    await createSession(shell).respondToApproval('approve')
    await waitForRest(shell, 1)
    // A filter cannot be switched off: the repository is refused.
    await git('config', 'filter.evil.clean', program)
    const filtered = await promptModel(run, 'git-filter', () => [{ tool: 'git_status', args: {} }])
    await waitForRest(filtered, 1)
    const read = await readCalls(handle)
    const [ran] = await readCalls(shell)
    const [refused] = await readCalls(filtered)
    const hasRun = await access(marker).then(
      () => true,
      () => false,
    )
    return {
      did: `read a repository whose configuration names ${Object.keys(settings).length} programs`,
      violations: [
        ...(hasRun ? ['a program of the repository has run'] : []),
        ...(read.length === tools.length ? [] : [`there are ${read.length} of ${tools.length} calls`]),
        ...read.flatMap(({ tool, status, result }) =>
          status === 'complete' ? [] : [`${tool} is ${status}: ${result?.text.slice(0, 200)}`],
        ),
        ...(ran?.status === 'complete' ? [] : [`shell is ${ran?.status}: ${ran?.result?.text.slice(0, 200)}`]),
        ...(question?.reason?.includes('named by .git/config') ? [] : ['a new hook is not asked about for what it is']),
        ...(read[1]?.result?.text.includes('+two') ? [] : ['the diff is not shown']),
        ...(refused?.result?.text.startsWith('untrusted_workspace: ') ? [] : [`a filter is ${refused?.status}`]),
      ],
    }
  },
}

export const gitCases: readonly HostileCase[] = [hostileConfig]
