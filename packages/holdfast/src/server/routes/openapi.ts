import { ok } from '@holdfast/protocol'
import { z } from 'zod'
import { defineRoute } from '../http/route.ts'

export const getOpenApi = defineRoute({
  method: 'GET',
  path: '/v1/openapi.json',
  access: 'token',
  summary: 'This description',
  answers: { status: 200, mediaType: 'application/json', schema: z.object({}) },
  handle: async (_, { describeApi }) => ok(Response.json(describeApi())),
})
