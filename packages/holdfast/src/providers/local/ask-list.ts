import type { GivenFacts } from '@holdfast/protocol'
import { z } from 'zod'
import { askJson } from './ask-json.ts'

const List = z.looseObject({
  data: z.array(z.looseObject({ id: z.string().min(1), max_model_len: z.number().nullish().catch(null) })),
})

/** The models of a server that speaks like OpenAI's. vLLM also tells how many tokens each takes. */
export async function askList(baseUrl: string, signal: AbortSignal): Promise<ReadonlyMap<string, GivenFacts>> {
  const { data } = List.parse(await askJson(`${baseUrl}/models`, signal))
  return new Map(data.map(({ id, max_model_len }) => [id, max_model_len ? { contextTokens: max_model_len } : {}]))
}
