import type { GivenFacts, ThinkingLevel } from '@holdfast/protocol'
import { z } from 'zod'
import { askJson } from './ask-json.ts'

const Tags = z.looseObject({
  models: z.array(z.looseObject({ name: z.string().min(1), remote_host: z.string().optional() })),
})
const Running = z.looseObject({
  models: z.array(z.looseObject({ name: z.string(), context_length: z.number().optional().catch(undefined) })),
})
const Shown = z.looseObject({
  capabilities: z.array(z.string()).optional(),
  parameters: z.string().optional(),
  model_info: z.record(z.string(), z.unknown()).optional(),
})
type Shown = z.infer<typeof Shown>

/** One that is asked about each model separately is asked about no more than so many. */
const shownMax = 100

const free = { input: 0, output: 0 }

/** The models that an Ollama has, the one that was used last first, with as much as it tells in time. */
export async function askOllama(baseUrl: string, signal: AbortSignal): Promise<ReadonlyMap<string, GivenFacts>> {
  const root = baseUrl.replace(/\/v1$/, '')
  const running = askRunning(root, signal)
  const { models } = Tags.parse(await askJson(`${root}/api/tags`, signal))
  const shown = models.slice(0, shownMax).map(({ name }) => askShown(root, name, signal))
  const [loaded, details] = await Promise.all([running, Promise.all(shown)])
  const found = models.map(({ name, remote_host }, index): [string, GivenFacts] => {
    const held = loaded.find((one) => one.name === name)?.context_length
    const facts = factsIn(details[index] ?? {})
    return [
      name,
      // What it passes on to another machine is someone's to charge for.
      {
        ...facts,
        ...(held !== undefined && { contextTokens: held }),
        ...(remote_host === undefined && { price: free }),
      },
    ]
  })
  return new Map(found.filter((_, index) => !isForEmbedding(details[index] ?? null)))
}

async function askRunning(root: string, signal: AbortSignal): Promise<z.infer<typeof Running>['models']> {
  try {
    return Running.parse(await askJson(`${root}/api/ps`, signal)).models
  } catch {
    return [] // an older one does not tell; what it has is still worth knowing
  }
}

async function askShown(root: string, model: string, signal: AbortSignal): Promise<Shown | null> {
  try {
    return Shown.parse(await askJson(`${root}/api/show`, signal, { model }))
  } catch {
    return null // it can be called by its name all the same
  }
}

const isForEmbedding = (shown: Shown | null): boolean => shown?.capabilities?.includes('completion') === false

function factsIn({ capabilities, parameters, model_info = {} }: Shown): GivenFacts {
  const set = Number(/^num_ctx\s+(\d+)/m.exec(parameters ?? '')?.[1] ?? 0)
  const [, made] = Object.entries(model_info).find(([name]) => name.endsWith('.context_length')) ?? []
  const contextTokens = set > 0 ? set : made
  const levels: ThinkingLevel[] = capabilities?.includes('thinking') ? ['off', 'low', 'medium', 'high'] : ['off']
  return {
    ...(typeof contextTokens === 'number' && contextTokens > 0 && { contextTokens: Math.floor(contextTokens) }),
    ...(capabilities !== undefined && {
      tools: capabilities.includes('tools'),
      takes: capabilities.includes('vision') ? ['image/png', 'image/jpeg'] : [],
      thinkingLevels: levels,
    }),
  }
}
