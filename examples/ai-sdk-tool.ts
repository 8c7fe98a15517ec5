// Uses a tool of the AI SDK as it is. Such a tool does not say what it changes, so every call asks first.
import { tool } from '@ai-sdk/provider-utils' // `ai` exports it too
import { openHoldfast } from 'holdfast'
import { call, createScriptedModel, say } from 'holdfast/testkit'
import { z } from 'zod'

const weather = tool({
  description: 'Returns the weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `${city}: sun`,
})

const model = createScriptedModel([[call('weather', { city: 'Rome' })], [say('The sun shines.')]])

await using holdfast = await openHoldfast({ store: 'memory:', tools: { weather }, models: { 'own/script': model } })
const session = await holdfast.startSession({ model: 'own/script' })

for await (const item of session.prompt('What is the weather in Rome?')) {
  if (item.type === 'approval') await session.respondToApproval('approve_session', item.approval.id)
  if (item.type === 'tool_result') console.log(`${item.call.tool} returned ${item.call.result?.text}`)
  if (item.type === 'text') process.stdout.write(item.text)
}
