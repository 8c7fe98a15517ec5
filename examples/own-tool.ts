// Gives the agent a tool of the program. A scripted model calls it, so no key is needed.
import { defineTool, openHoldfast } from 'holdfast'
import { call, createScriptedModel, say } from 'holdfast/testkit'
import { z } from 'zod'

const forecasts: { readonly [city: string]: string } = { Oslo: 'snow', Rome: 'sun' }

const forecast = defineTool({
  name: 'forecast',
  description: 'Returns the weather of the next days in a city.',
  input: z.object({ city: z.string(), days: z.number().default(3) }),
  readOnly: true,
  run: async ({ city, days }, { signal, progress }) => {
    signal.throwIfAborted() // give the signal to fetch and to everything that takes time
    progress(`Asking for ${city} …`)
    return { city, days, weather: forecasts[city] ?? 'unknown' }
  },
})

const model = createScriptedModel([[call('forecast', { city: 'Oslo' })], [say('It snows for three days.')]])

await using holdfast = await openHoldfast({ store: 'memory:', tools: [forecast], models: { 'own/script': model } })
const session = await holdfast.startSession({ model: 'own/script' })

for await (const item of session.prompt('What is the weather in Oslo?')) {
  if (item.type === 'tool_result') console.log(`${item.call.tool} returned ${item.call.result?.text}`)
  if (item.type === 'text') process.stdout.write(item.text)
}
