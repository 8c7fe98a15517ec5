import type { GivenFacts, ModelName } from '@holdfast/protocol'
import { z } from 'zod'
import type { FactsByModel } from './catalogue.ts'

const dollars = z.number().min(0)
const tokens = z.int().min(0)

/** The fields that we read of a model in the public list of models.dev (`api.json`). */
const PublicModel = z.looseObject({
  name: z.string().optional(),
  reasoning: z.boolean().optional(),
  tool_call: z.boolean().optional(),
  attachment: z.boolean().optional(),
  modalities: z.looseObject({ input: z.array(z.string()), output: z.array(z.string()).optional() }).optional(),
  limit: z.looseObject({ context: tokens.optional(), output: tokens.optional() }).optional(),
  cost: z
    .looseObject({
      input: dollars,
      output: dollars,
      cache_read: dollars.optional(),
      cache_write: dollars.optional(),
    })
    .optional(),
})
type PublicModel = z.infer<typeof PublicModel>

export const PublicList = z.record(z.string(), z.looseObject({ models: z.record(z.string(), z.unknown()).default({}) }))

const PublicModels = z.record(z.string(), PublicModel)

/** Converts the models of the given services. Other services are not read, so errors in them do not matter. */
export function readPublicList(
  list: z.infer<typeof PublicList>,
  services: readonly string[],
): { readonly success: true; readonly data: FactsByModel } | { readonly success: false; readonly error: z.ZodError } {
  const facts: { [model: ModelName]: GivenFacts } = {}
  for (const service of services) {
    if (!Object.hasOwn(list, service)) continue
    const models = PublicModels.safeParse(list[service]?.models)
    if (!models.success) return failedAt(service, models.error)
    for (const [id, model] of Object.entries(models.data)) {
      const name = `${service}/${id}`
      const isText = model.modalities?.output?.includes('text') ?? true
      if (isText && !/\s/.test(name)) facts[name] = toFacts(model)
    }
  }
  return { success: true, data: facts }
}

const failedAt = (service: string, error: z.ZodError) => ({
  success: false as const,
  error: new z.ZodError(error.issues.map((issue) => ({ ...issue, path: [service, 'models', ...issue.path] }))),
})

function toFacts({ name, reasoning, tool_call, modalities, limit, cost }: PublicModel): GivenFacts {
  const { context, output } = limit ?? {}
  return {
    ...(name !== undefined && { title: name }),
    ...(context && { contextTokens: context }), // the list uses 0 for unknown
    ...(output && { outputTokens: output }),
    ...(cost && {
      price: { input: cost.input, output: cost.output, cacheRead: cost.cache_read, cacheWrite: cost.cache_write },
    }),
    ...(modalities && { takes: toMediaTypes(modalities.input) }),
    ...(tool_call !== undefined && { tools: tool_call }),
    // The list says whether a model thinks, but not at which levels.
    ...(reasoning === false && { thinkingLevels: ['off' as const] }),
  }
}

const toMediaTypes = (inputs: readonly string[]): string[] => [
  ...(inputs.includes('image') ? ['image/*'] : []),
  ...(inputs.includes('pdf') ? ['application/pdf'] : []),
]
