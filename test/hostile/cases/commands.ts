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

export const commandCases: readonly HostileCase[] = [outputFlood, manyInBackground]
