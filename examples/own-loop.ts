// A bot that calls its model itself and uses Holdfast only to store the conversations.
import { type ConversationMessage, openConversations } from 'holdfast/store'

const conversations = await openConversations({ store: process.argv[2] ?? 'memory:' }) // sqlite:FILE or jsonl:DIR

/** Your call of a model goes here. */
async function callModel(history: readonly ConversationMessage[]): Promise<string> {
  return `I have read ${history.length} messages.`
}

async function reply(chat: string, text: string): Promise<string> {
  conversations.addMessage(chat, 'user', text)
  const answer = await callModel(await conversations.getHistory(chat))
  conversations.addMessage(chat, 'assistant', answer)
  await conversations.save(chat) // both messages now survive a power cut
  return answer
}

console.log(await reply('telegram:1', 'what is there?'))
console.log(await reply('telegram:1', 'and now?'))

conversations.addFullMessage('telegram:1', {
  role: 'assistant',
  content: '',
  toolCalls: [{ id: 'a', tool: 'look', args: { at: 'sea' } }],
})
conversations.addFullMessage('telegram:1', { role: 'tool', content: 'a ship', toolCallId: 'a' })
for (const { role, content } of await conversations.getHistory('telegram:1')) console.log(`${role}: ${content}`)
await conversations.close()
