// A chat bot: reads "chat: message" lines from stdin and answers each chat in a session of its own.
import { createInterface } from 'node:readline'
import { HoldfastError, openHoldfast } from 'holdfast'

await using holdfast = await openHoldfast({ store: process.argv[2] ?? 'memory:' })

async function answer(chat: string, text: string): Promise<string> {
  // The key finds the session of this chat again, also after a restart.
  const session = await holdfast.getOrCreate(`bot:${chat}`, { model: 'demo/agent', readOnly: true })
  try {
    return await session.prompt(text).text()
  } catch (error) {
    if (error instanceof HoldfastError) return `Sorry: ${error.message}`
    throw error
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [chat = '', ...words] = line.split(': ')
  console.log(`${chat}> ${await answer(chat, words.join(': '))}`)
}
