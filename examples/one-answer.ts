// Asks one question and prints the answer, then prints a second one while it arrives.
import { openHoldfast } from 'holdfast'

await using holdfast = await openHoldfast() // embedded SQLite, models from the environment
const session = await holdfast.startSession({ workdir: '.', model: 'demo/agent' })

console.log(await session.prompt('What is in this folder?').text())

let step = 0
for await (const item of session.prompt('list')) {
  if (item.type === 'end' && item.reason !== 'done') console.error(item.fault?.message ?? item.reason)
  if (item.type !== 'text') continue
  if (item.step !== step) process.stdout.write('\n\n') // the model speaks again, after its tool calls
  step = item.step
  process.stdout.write(item.text)
}
