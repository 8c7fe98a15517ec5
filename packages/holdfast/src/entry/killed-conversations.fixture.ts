import { writeSync } from 'node:fs'
import { openConversations } from './open-conversations.ts'

// Runs in a process that a test kills. Prints each save once it is acknowledged.
const [store = '', home = ''] = process.argv.slice(2)
const conversations = await openConversations({ store, environment: { HOLDFAST_HOME: home }, workdir: home })
for (let number = 0; ; number += 3) {
  for (const next of [number, number + 1, number + 2]) conversations.addMessage('one', 'user', `message ${next}`)
  if (number % 30 === 27) conversations.setSummary('one', `summary ${number}`)
  await conversations.save('one')
  writeSync(1, `saved ${number + 2}\n`)
}
