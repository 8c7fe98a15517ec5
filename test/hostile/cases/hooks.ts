import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSession } from '@holdfast/client'
import { ask, check } from '../ask.ts'
import type { CaseRun, HostileCase } from '../case.ts'
import { readCalls } from '../read-session.ts'
import { waitForRest } from '../wait-for-rest.ts'

/** Commands that do not answer as a hook should, and what the refusal of the call must say. */
const hooks = [
  ['hangs', 'echo $$ > pid; sleep 1000 & wait', 'took too long'],
  ['crashes', 'kill -9 $$', 'ended by a signal'],
  ['prints without end', 'echo $$ > pid; cat /dev/zero', 'printed more than'],
  ['complains without end', 'echo $$ > pid; cat /dev/zero >&2', 'printed more than'],
  ['prints garbage', "head -c 65536 /dev/urandom | sed '1s/^/{/'", 'is not'],
  ['leaves a process', 'sleep 1000 & echo $! > pid; exit 3', 'exit code 3'],
] as const

/** A workspace whose trusted hooks hang, crash and print without end: each call is refused with a sentence. */
const hostileHooks: HostileCase = {
  name: 'hostile-hooks',
  from: 'repository',
  async run(run) {
    const found = await Promise.all(hooks.map((hook) => runHook(run, hook)))
    return { did: `ran ${hooks.length} hostile hooks`, violations: found.flat() }
  },
}

async function runHook({ server, workdir }: CaseRun, [name, command, says]: (typeof hooks)[number]): Promise<string[]> {
  const folder = join(workdir, name.replaceAll(' ', '-'))
  await mkdir(join(folder, '.git'), { recursive: true })
  await mkdir(join(folder, '.claude'))
  const settings = { hooks: { PreToolUse: [{ hooks: [{ type: 'command', command, timeout: 2 }] }] } }
  await writeFile(join(folder, '.claude/settings.json'), JSON.stringify(settings))
  const offered = await ask(server, `/trust?workdir=${encodeURIComponent(folder)}`)
  const { offers } = JSON.parse(offered.text) as { offers: { kind: string; name: string; hash: string }[] }
  const body = { workdir: folder, offers: offers.map(({ kind, name: of, hash }) => ({ kind, name: of, hash })) }
  const violations = [...check(`trust of the hook that ${name}`, await ask(server, '/trust', { body }), [200])]
  const started = await server.sessions.start({ workdir: folder, model: 'demo/agent' })
  if (!started.ok) throw new Error(started.fault.message)
  await createSession(started.value).sendPrompt('list')
  await waitForRest(started.value)
  const [call] = await readCalls(started.value)
  const said = call?.result?.text ?? ''
  if (call?.status !== 'denied' || !said.includes(says))
    violations.push(`with a hook that ${name} the call is ${call?.status}: ${said.slice(0, 200)}`)
  const pid = await readFile(join(folder, 'pid'), 'utf8').catch(() => null)
  const status = pid === null ? null : await readFile(`/proc/${pid.trim()}/stat`, 'utf8').catch(() => null)
  if (status !== null && !/\) Z /.test(status)) violations.push(`a hook that ${name} still runs`)
  return violations
}

export const hookCases: readonly HostileCase[] = [hostileHooks]
