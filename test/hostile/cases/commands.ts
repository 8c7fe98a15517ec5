import { createSession } from '@holdfast/client'
import { limits } from '@holdfast/protocol'
import type { HostileCase } from '../case.ts'
import { promptModel } from '../prompt-model.ts'
import { readCalls } from '../read-session.ts'
import { waitForRest } from '../wait-for-rest.ts'

/** Runs a command that prints far more than fits in memory or in a record. */
const outputFlood: HostileCase = {
  name: 'output-flood',
  from: 'model',
  async run(run) {
    const bytes = run.isQuick ? 5_000_000 : 200_000_000
    const args = { command: `head -c ${bytes} /dev/zero | tr '\\0' '\\33'; printf '\\nthe end\\n'` }
    const handle = await promptModel(run, 'output-flood', () => [{ tool: 'shell', args }])
    await waitForRest(handle, 1)
    await createSession(handle).respondToApproval('approve')
    await waitForRest(handle, 1)
    const result = (await readCalls(handle))[0]?.result
    const violations = result?.text.includes('the end') ? [] : ['the end of the output is not shown']
    if (result?.blob?.bytes !== bytes + '\nthe end\n'.length)
      violations.push(`${result?.blob?.bytes} bytes of the output are kept`)
    if ((result?.text.length ?? 0) > 2 * limits.toolOutputInlineBytesMax) violations.push('the record holds the output')
    return { did: `printed ${bytes} escape characters`, violations }
  },
}

/** Starts more commands in the background, all at once, than a session may have. Stopping the session ends them. */
const manyInBackground: HostileCase = {
  name: 'many-in-background',
  from: 'model',
  async run(run) {
    const commands = run.isQuick ? limits.backgroundShellsMax + 1 : 60
    const args = { command: 'sleep 1000', background: true }
    const handle = await promptModel(run, 'many-in-background', () =>
      Array.from({ length: commands }, () => ({ tool: 'shell', args })),
    )
    await waitForRest(handle, 1)
    await createSession(handle).respondToApproval('approve_turn')
    await waitForRest(handle, 1)
    const results = (await readCalls(handle)).map(({ result }) => result?.text ?? '')
    const started = results.filter((text) => text.startsWith('Started in the background')).length
    const refused = results.filter((text) => text.startsWith('too_large: ')).length
    const violations: string[] = []
    if (started !== limits.backgroundShellsMax) violations.push(`${started} commands were started`)
    if (refused !== commands - limits.backgroundShellsMax) violations.push(`${refused} commands were refused`)
    const stopped = await run.server.sessions.stop(handle.id)
    if (!stopped.ok) violations.push(stopped.fault.message)
    return { did: `started ${started} of ${commands} commands in the background`, violations }
  },
}

const many = (count: number, one: (index: number) => string, between = ' ') =>
  Array.from({ length: count }, (_, index) => one(index)).join(between)

/** Rules of each kind, with which every call has to be compared. */
const rules = [
  { verdict: 'allow', tool: 'shell', pattern: 'prog **' },
  { verdict: 'allow', tool: 'shell', pattern: 'cat *' },
  { verdict: 'allow', tool: 'read_file', pattern: '**' },
  { verdict: 'ask', tool: 'shell', pattern: 'git push **' },
  { verdict: 'deny', tool: 'shell', pattern: 'rm -r* **' },
  { verdict: 'deny', tool: '*', pattern: '.env' },
  { verdict: 'deny', tool: 'read_file', pattern: '**/secrets/**/*.key' },
] as const

/** Commands that take long to compare with rules. A person is asked about each. */
const askedCommands = [
  `prog ${many(1500, (index) => `w${index}`)}`,
  `prog ${many(3900, () => 'a')}`,
  `prog ${many(300, (index) => `-${index}=a/b`)}`,
  `${many(6, (index) => `cd ${'f'.repeat(1000)}${index}`, '; ')}; cat x`,
  `cat ${many(15, (index) => `${index}${'/secrets/a.key'.repeat(280)}`)}`,
  `cat ${'../'.repeat(1300)}x`,
  `${many(60, () => 'timeout 1 2 3 4 5 6 7')} ${'x'.repeat(14_000)}`,
  `cat <<END\n${'word\n'.repeat(900)}END`,
  `prog ${many(20_000, (index) => `${index}`)}`.slice(0, 99_000),
]

/** Calls that the tools refuse, after rules were compared with them. */
const refusedCalls = [
  { tool: 'shell', args: { command: `prog ${many(80_000, (index) => `${index}`)}` } },
  { tool: 'read_file', args: { path: 'a/'.repeat(250_000) } },
  { tool: 'write_file', args: { path: '../'.repeat(150_000), content: '' } },
  { tool: 'git_stage', args: { paths: Array.from({ length: 10_000 }, (_, index) => `deep/${index}`) } },
  { tool: 'fetch_url', args: { url: `https://example.com/${'a/'.repeat(250_000)}` } },
]

/** Compares long commands, paths and lists with rules, before any tool has looked at them. */
const ruledCommands: HostileCase = {
  name: 'ruled-commands',
  from: 'model',
  async run(run) {
    const times = run.isQuick ? 1 : 3
    const asked = Array.from({ length: times }, () => askedCommands).flat()
    const calls = [...asked.map((command) => ({ tool: 'shell', args: { command } })), ...refusedCalls]
    const handle = await promptModel(run, 'ruled-commands', () => calls, { permissions: [...rules] })
    const rested = await waitForRest(handle, asked.length)
    const found = await readCalls(handle)
    const ran = found.filter(({ status }) => status === 'complete' || status === 'running')
    await createSession(handle).abort()
    return {
      did: `compared ${calls.length} long calls with ${rules.length} rules`,
      violations: [
        ...(rested === 'asks' ? [] : ['nobody is asked']),
        ...(found.length === calls.length ? [] : [`there are ${found.length} of ${calls.length} calls`]),
        ...ran.map(({ tool, status }) => `${tool} is ${status}: nothing may allow it`),
      ],
    }
  },
}

export const commandCases: readonly HostileCase[] = [outputFlood, manyInBackground, ruledCommands]
