import { writeSync } from 'node:fs'
import { orThrow } from '@holdfast/protocol'
import { openHoldfast } from '../open.ts'

// A process that owns a session, which a test kills or stops. It prints what happens to it, a line for each.
const [home = '', path = ''] = process.argv.slice(2)
const print = (line: string) => void writeSync(1, `${line}\n`)
const environment = { HOLDFAST_HOME: home, DEMO_PACE: '20', PATH: path }
await using holdfast = await openHoldfast({ environment, model: 'demo/agent' })
const session = await holdfast.startSession({ workdir: home })
await session.sendPrompt('count to 500')
print(`session ${session.id}`)
setInterval(() => undefined, 60_000)
const follow = async () => {
  const handle = orThrow(await holdfast.handles.open(session.id))
  for await (const frame of handle.subscribe())
    if (frame.type === 'record' && frame.record.event.type === 'settings.changed')
      print(`title ${frame.record.event.title}`)
}
void follow()
for await (const news of holdfast.subscribe())
  if (news.type === 'session.stopped') {
    print(`stopped ${news.reason}`)
    await session.rename('By the old owner')
    print('renamed')
  }
