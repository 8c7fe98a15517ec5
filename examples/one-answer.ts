// Asks one question and prints the answer, then prints a second one while it arrives.
import { openHoldfast } from 'holdfast'

await using holdfast = await openHoldfast() // embedded SQLite, models from the environment
const session = await holdfast.startSession({ workdir: '.', model: 'demo/agent' })

console.log(await session.prompt('What is in this folder?').text())

for await (const item of session.prompt('count to 3')) {
  if (item.type === 'text') process.stdout.write(item.text)
}
