// Follows a session of a running server and prints what happens. Start one with `holdfast serve`, then:
//   node examples/follow-a-server.ts http://127.0.0.1:4820 "$(cat ~/.local/state/holdfast/server.token)"
import { connectHoldfast, createLiveView } from '@holdfast/client'

const [url = 'http://127.0.0.1:4820', token] = process.argv.slice(2)
if (token === undefined) {
  console.error('Give the address and the token of the server. `holdfast serve` writes the token to server.token.')
  process.exit(2)
}
await using holdfast = connectHoldfast(url, token)
const session = await holdfast.startSession({ workdir: process.cwd(), model: 'demo/agent' })

// The view is always up to date. It reconnects by itself and misses nothing.
const view = createLiveView(await openHandle(session.id))
view.subscribe(() => {
  const text = view.live.map((part) => (part.kind === 'text' ? part.text : '')).join('') // without the thinking
  if (text !== '') console.log(`… ${text}`)
})

await connected() // so that nothing of the answer has passed before
console.log(await session.prompt('count to 3').text())
view.close()

function connected(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => view.view !== null && resolve()
    view.subscribe(look)
    look()
  })
}

async function openHandle(id: string) {
  const opened = await holdfast.handles.open(id)
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}
