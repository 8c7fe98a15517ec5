import { ListOptions, limits, Meta, ok, SessionList, StartOptions } from '@holdfast/protocol'
import { z } from 'zod'
import { defineRoute, wholeNumber } from '../route.ts'
import { SeedDescribed } from './seed-described.ts'

const limit = wholeNumber.pipe(z.int().min(1).max(limits.listSessionsMax)).optional()

export const listSessions = defineRoute({
  method: 'GET',
  path: '/v1/sessions',
  access: 'token',
  summary: 'List sessions, the latest first',
  query: z.strictObject({ ...ListOptions.shape, limit }),
  answers: { status: 200, mediaType: 'application/json', schema: SessionList },
  async handle({ input }, { sessions }) {
    const list = await sessions.list(input.query)
    return list.ok ? ok(Response.json(list.value)) : list
  },
})

export const startSession = defineRoute({
  method: 'POST',
  path: '/v1/sessions',
  access: 'token',
  summary: 'Start a session',
  body: StartOptions,
  // Any JSON at all is endless to describe.
  bodyDescribed: StartOptions.extend({
    providerOptions: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
    messages: SeedDescribed.optional(),
  }),
  answers: { status: 201, mediaType: 'application/json', schema: z.object({ session: Meta }) },
  async handle({ input }, { sessions }) {
    const started = await sessions.start(input.body)
    if (!started.ok) return started
    const snapshot = await started.value.snapshot()
    if (!snapshot.ok) return snapshot
    const headers = { location: `/v1/sessions/${started.value.id}` }
    return ok(Response.json({ session: snapshot.value.meta }, { status: 201, headers }))
  },
})
