// A chat bot: reads "chat: message" lines from stdin and answers each chat in a session of its own.
import { createInterface } from 'node:readline'
import { HoldfastError, openHoldfast } from 'holdfast'

await using holdfast = await openHoldfast({ store: process.argv[2] ?? 'memory:' })

async function answer(chat: string, text: string): Promise<string> {
  // The key finds the session of this chat again, also after a restart.
  const session = await holdfast.getOrCreate(`bot:${chat}`, { model: 'demo/agent', readOnly: true })
  // A message that comes during a turn waits for its end, so that each message has an answer of its own.
  const turn = session.prompt(text, { queue: 'follow_up' })
  try {
    return await turn.text()
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    if (error.code === 'turn_failed') await turn.abort() // removes the message, if it still waits for a failed turn
    return `Sorry: ${error.message}`
  }
}

const replies: Promise<void>[] = []
for await (const line of createInterface({ input: process.stdin })) {
  const [chat = '', ...words] = line.split(': ')
  replies.push(answer(chat, words.join(': ')).then((reply) => console.log(`${chat}> ${reply}`)))
}
await Promise.all(replies)
