import type { GivenFacts, ThinkingLevel } from '@holdfast/protocol'
import { z } from 'zod'
import { readBody } from '../services/fetch.ts'

/** More than the models of one machine need. */
const answerBytesMax = 4 * 1024 * 1024
/** Ollama is asked about each model separately, so only about this many. */
const detailedModelsMax = 100

/** The server runs but needs a key. We send none: the port may belong to another program. */
export class NeedsKeyError extends Error {}

type FoundModels = ReadonlyMap<string, GivenFacts>

/** Reads JSON from a local server. Throws for everything else, including an abort. */
async function queryJson(url: string, signal: AbortSignal, body?: object): Promise<unknown> {
  const answer = await fetch(url, {
    signal,
    redirect: 'error', // it must not send us to another machine
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  if (answer.status === 401 || answer.status === 403) throw new NeedsKeyError('the server needs a key')
  if (!answer.ok) throw new Error(`the server answers ${answer.status}`)
  const text = await readBody(answer, answerBytesMax)
  if (text === null) throw new Error('the answer is too long')
  return JSON.parse(text)
}

const ModelListing = z.looseObject({
  data: z.array(z.looseObject({ id: z.string().min(1), max_model_len: z.number().nullish().catch(null) })),
})

/** Lists the models of a server with OpenAI's API. vLLM also gives the context size. */
export async function queryModelList(baseUrl: string, signal: AbortSignal): Promise<FoundModels> {
  const { data } = ModelListing.parse(await queryJson(`${baseUrl}/models`, signal))
  return new Map(data.map(({ id, max_model_len }) => [id, max_model_len ? { contextTokens: max_model_len } : {}]))
}

const Tags = z.looseObject({
  models: z.array(z.looseObject({ name: z.string().min(1), remote_host: z.string().optional() })),
})
const Running = z.looseObject({
  models: z.array(z.looseObject({ name: z.string(), context_length: z.number().optional().catch(undefined) })),
})
const Details = z.looseObject({
  capabilities: z.array(z.string()).optional(),
  parameters: z.string().optional(),
  model_info: z.record(z.string(), z.unknown()).optional(),
})
type Details = z.infer<typeof Details>

/** Lists the models of an Ollama server, last used first, with the facts it gives in time. */
export async function queryOllama(baseUrl: string, signal: AbortSignal): Promise<FoundModels> {
  const root = baseUrl.replace(/\/v1$/, '')
  // Both are optional: an older server does not answer, but its models can still be called by name.
  const running = queryJson(`${root}/api/ps`, signal)
    .then((json) => Running.parse(json))
    .catch(() => null)
  const queryDetails = (model: string) =>
    queryJson(`${root}/api/show`, signal, { model })
      .then((json) => Details.parse(json))
      .catch(() => null)

  const { models } = Tags.parse(await queryJson(`${root}/api/tags`, signal))
  const [loaded, ...details] = await Promise.all([
    running,
    ...models.slice(0, detailedModelsMax).map(({ name }) => queryDetails(name)),
  ])
  return new Map(
    models.flatMap(({ name, remote_host }, index): [string, GivenFacts][] => {
      const detail = details[index] ?? {}
      if (detail.capabilities?.includes('completion') === false) return [] // for embeddings only
      const contextTokens = loaded?.models.find((one) => one.name === name)?.context_length
      return [
        [
          name,
          {
            ...toFacts(detail),
            ...(contextTokens !== undefined && { contextTokens }),
            // A model on a remote host may cost money.
            ...(remote_host === undefined && { price: { input: 0, output: 0 } }),
          },
        ],
      ]
    }),
  )
}

function toFacts({ capabilities, parameters, model_info = {} }: Details): GivenFacts {
  const configured = Number(/^num_ctx\s+(\d+)/m.exec(parameters ?? '')?.[1] ?? 0)
  const [, trained] = Object.entries(model_info).find(([name]) => name.endsWith('.context_length')) ?? []
  const contextTokens = configured > 0 ? configured : trained
  const thinkingLevels: ThinkingLevel[] = capabilities?.includes('thinking')
    ? ['off', 'low', 'medium', 'high']
    : ['off']
  return {
    ...(typeof contextTokens === 'number' && contextTokens > 0 && { contextTokens: Math.floor(contextTokens) }),
    ...(capabilities !== undefined && {
      tools: capabilities.includes('tools'),
      takes: capabilities.includes('vision') ? ['image/png', 'image/jpeg'] : [],
      thinkingLevels,
    }),
  }
}
