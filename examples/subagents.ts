// Gives a task to a subagent, and answers the approval that it waits for.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHoldfast } from 'holdfast'

const home = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
await using holdfast = await openHoldfast({ store: 'memory:', environment: { HOLDFAST_HOME: home, DEMO_PACE: '0' } })
const session = await holdfast.startSession({ workdir: home, model: 'demo/agent' })

for await (const item of session.prompt('delegate write notes.txt: hello')) {
  if (item.type === 'approval') {
    console.log(`${item.child ? 'a subagent' : 'the session'} asks for ${item.approval.tool}`)
    await session.respondToApproval('approve', item.approval.id, undefined, { child: item.child?.id })
  }
  if (item.type === 'end') console.log('done:', item.reason)
}
const [subagent] = await session.subagents()
console.log(subagent?.status, subagent?.agent)
