import { createSession } from '@holdfast/client'
import type { SessionHandle } from '@holdfast/protocol'
import type { HostileCase } from '../case.ts'
import { waitForRest } from '../wait-for-rest.ts'
import { promptModel } from './models.ts'

/** Returns the text of all results of calls so far. */
async function resultsOf(handle: SessionHandle): Promise<string> {
  const snapshot = await handle.snapshot()
  if (!snapshot.ok) throw new Error(snapshot.fault.message)
  return JSON.stringify(snapshot.value)
}

/** Runs a command that prints far more than fits in memory or in a record. */
const outputFlood: HostileCase = {
  name: 'output-flood',
  from: 'model',
  async run(run) {
    const bytes = run.isQuick ? 20_000_000 : 200_000_000
    const args = { command: `head -c ${bytes} /dev/zero | tr '\\0' '\\33'; echo the end` }
    const handle = await promptModel(run, 'output-flood', () => [{ tool: 'shell', args }])
    await waitForRest(handle, 1)
    await createSession(handle).respondToApproval('approve')
    await waitForRest(handle, 1)
    const results = await resultsOf(handle)
    const violations = results.includes('the end') ? [] : ['the end of the output is not shown']
    if (!results.includes(`"bytes":${bytes + 'the end\n'.length}`)) violations.push('the whole output is not kept')
    if (results.length > 1_000_000) violations.push('the snapshot holds the output')
    return { did: `printed ${bytes} escape characters`, violations }
  },
}

/** Starts far more commands in the background than a session may have, then is stopped. */
const manyInBackground: HostileCase = {
  name: 'many-in-background',
  from: 'model',
  async run(run) {
    const commands = run.isQuick ? 21 : 60
    const args = { command: 'sleep 1000', background: true }
    const handle = await promptModel(run, 'many-in-background', () =>
      Array.from({ length: commands }, () => ({ tool: 'shell', args })),
    )
    while ((await waitForRest(handle, 1)) === 'asks') await createSession(handle).respondToApproval('approve')
    const results = await resultsOf(handle)
    const violations = results.includes('End one with shell_stop') ? [] : ['more than 20 commands were started']
    return { did: `started ${commands} commands in the background`, violations }
  },
}

export const commandCases: readonly HostileCase[] = [outputFlood, manyInBackground]
