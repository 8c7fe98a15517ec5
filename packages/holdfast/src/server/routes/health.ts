import { ok } from '@holdfast/protocol'
import { z } from 'zod'
import { defineRoute } from '../http/route.ts'

const Health = z.object({ status: z.literal('ok'), version: z.string() })

export const getHealth = defineRoute({
  method: 'GET',
  path: '/v1/health',
  access: 'open',
  summary: 'Whether the server is alive, and its version',
  query: z.object({}), // a probe may add what it likes to get past a cache
  answers: { status: 200, mediaType: 'application/json', schema: Health },
  handle: async (_, { version }) => ok(Response.json({ status: 'ok', version })),
})
