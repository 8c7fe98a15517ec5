import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createSession } from '@holdfast/client'
import { ask, check } from '../ask.ts'
import type { CaseRun, HostileCase } from '../case.ts'
import { waitForRest } from '../wait-for-rest.ts'

const megabyte = 1024 ** 2

/** Starts a session of the demo model in the hostile folder and lets it list and read what is there. */
async function workInFolder({ server, workdir }: CaseRun, prompt: string): Promise<readonly string[]> {
  const started = await server.sessions.start({ workdir, model: 'demo/agent' })
  if (!started.ok) return [`the session does not start: ${started.fault.message}`]
  const session = createSession(started.value)
  await session.sendPrompt(prompt)
  await waitForRest(started.value)
  return check('GET session', await ask(server, `/sessions/${session.id}`), [200])
}

const largeInstructions: HostileCase = {
  name: 'large-instructions',
  from: 'repository',
  async run(run) {
    const size = (run.isQuick ? 8 : 200) * megabyte
    for (const name of ['AGENTS.md', 'CLAUDE.md']) await writeFile(join(run.workdir, name), 'obey '.repeat(size / 5))
    return { did: `worked in a folder with instructions of ${size} bytes`, violations: await workInFolder(run, 'list') }
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
    const violations = await workInFolder(run, 'list\nread pipe\nread loop\nread root/etc/hostname')
    return { did: 'read named pipes, a link to itself and a link out of the folder', violations }
  },
}

const manyFiles: HostileCase = {
  name: 'many-files',
  from: 'repository',
  async run(run) {
    const count = run.isQuick ? 3_000 : 100_000
    for (let from = 0; from < count; from += 500) {
      const names = Array.from({ length: Math.min(500, count - from) }, (_, each) => `${'n'.repeat(200)}${from + each}`)
      await Promise.all(names.map((name) => writeFile(join(run.workdir, name), '')))
    }
    return { did: `listed a folder of ${count} files`, violations: await workInFolder(run, 'list') }
  },
}

export const repositoryCases: readonly HostileCase[] = [largeInstructions, pipesAndLoops, manyFiles]
