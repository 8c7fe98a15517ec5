import { ageForm, ListOptions, limits, Meta, ok, parseAge, SessionList, StartOptions } from '@holdfast/protocol'
import { z } from 'zod'
import { defineRoute, flag, wholeNumber } from '../http/route.ts'
import { SeedDescribed } from './seed-described.ts'

const { workspace, search, model, cursor, startedFor, activeFrom, activeBefore } = ListOptions.shape
const limit = wholeNumber.pipe(z.int().min(1).max(limits.listSessionsMax)).optional()

export const listSessions = defineRoute({
  method: 'GET',
  path: '/v1/sessions',
  access: 'token',
  summary: 'List sessions, the latest first',
  query: z.strictObject({
    ...{ workspace, search, model, cursor, startedFor, limit },
    age: z
      .string()
      .refine((text) => parseAge(text) !== null, `give ${ageForm}`)
      .optional(),
    ...{ activeFrom, activeBefore },
    pinned: flag.optional(),
    running: z
      .literal('true')
      .transform(() => true as const)
      .optional(),
  }),
  answers: { status: 200, mediaType: 'application/json', schema: SessionList },
  async handle({ input }, { sessions, now }) {
    const { age, ...query } = input.query
    const ageMs = age === undefined ? null : parseAge(age)
    const from = ageMs === null ? {} : { activeFrom: new Date(now() - ageMs).toISOString() }
    const list = await sessions.list({ ...query, ...from })
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
