import { FoundMessages, limits, ok, SearchOptions } from '@holdfast/protocol'
import { z } from 'zod'
import { defineRoute, wholeNumber } from '../http/route.ts'

const { text: q, ...filters } = SearchOptions.shape
const limit = wholeNumber.pipe(z.int().min(1).max(limits.searchHitsMax)).optional()

export const searchMessages = defineRoute({
  method: 'GET',
  path: '/v1/search',
  access: 'token',
  summary: 'Find messages by their words: the newest 1,000 that match, the best first',
  query: z.strictObject({ q, ...filters, limit }),
  answers: { status: 200, mediaType: 'application/json', schema: FoundMessages },
  async handle({ input }, { sessions }) {
    const { q: text, ...rest } = input.query
    const found = await sessions.search({ text, ...rest })
    return found.ok ? ok(Response.json(found.value)) : found
  },
})
