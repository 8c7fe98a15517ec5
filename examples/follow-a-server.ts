// Follows a session of a running server and prints what happens. Start one with `holdfast serve`, then:
//   node examples/follow-a-server.ts http://127.0.0.1:4820 TOKEN
import { connectHoldfast, createLiveView } from '@holdfast/client'

const [url = 'http://127.0.0.1:4820', token] = process.argv.slice(2)
await using holdfast = connectHoldfast(url, token)
const session = await holdfast.startSession({ workdir: process.cwd(), model: 'demo/agent' })

// The view is always up to date. It reconnects by itself and misses nothing.
const view = createLiveView(await openHandle(session.id))
view.subscribe(() => {
  const text = view.live.map((part) => ('text' in part ? part.text : '')).join('')
  if (text !== '') console.log(`… ${text}`)
})

console.log(await session.prompt('count to 3').text())
view.close()

async function openHandle(id: string) {
  const opened = await holdfast.handles.open(id)
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}
