// A chat bot: reads "chat: message" lines from stdin and answers each chat in a session of its own.
import { createInterface } from 'node:readline'
import { HoldfastError, openHoldfast } from 'holdfast'

await using holdfast = await openHoldfast({ store: process.argv[2] ?? 'memory:' })

async function answer(chat: string, text: string): Promise<string> {
  // The key finds the session of this chat again, also after a restart.
  const session = await holdfast.getOrCreate(`bot:${chat}`, { model: 'demo/agent', readOnly: true })
  try {
    // A message that comes during a turn waits for its end, so that each message has an answer of its own.
    return await session.prompt(text, { queue: 'follow_up' }).text()
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    if (error.code === 'turn_failed') await session.clearQueues() // those who wait get a reply too
    return `Sorry: ${error.message}`
  }
}

const replies: Promise<void>[] = []
for await (const line of createInterface({ input: process.stdin })) {
  const [chat = '', ...words] = line.split(': ')
  replies.push(answer(chat, words.join(': ')).then((reply) => console.log(`${chat}> ${reply}`)))
}
await Promise.all(replies)
