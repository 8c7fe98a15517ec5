import {
  ageForm,
  FoundMessages,
  ListOptions,
  limits,
  Meta,
  ok,
  parseAge,
  SearchOptions,
  SessionList,
  StartOptions,
} from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, defineRoute, flag, pageLimit, type Route } from '../http/route.ts'

const { workspace, search, model, cursor, startedFor, activeFrom, activeBefore } = ListOptions.shape

const listSessions = defineRoute({
  method: 'GET',
  path: '/v1/sessions',
  access: 'token',
  summary: 'List sessions, newest first',
  query: z.strictObject({
    ...{ workspace, search, model, cursor, startedFor, activeFrom, activeBefore },
    limit: pageLimit(limits.listSessionsMax),
    age: z
      .string()
      .refine((text) => parseAge(text) !== null, `give ${ageForm}`)
      .optional(),
    pinned: flag,
    running: z
      .literal('true')
      .transform(() => true as const)
      .optional(),
  }),
  answers: answersJson(SessionList),
  async handle({ input }, { sessions, now }) {
    const { age, ...query } = input.query
    const ageMs = age === undefined ? null : parseAge(age)
    const from = ageMs === null ? {} : { activeFrom: new Date(now() - ageMs).toISOString() }
    return sessions.list({ ...query, ...from })
  },
})

const startSession = defineRoute({
  method: 'POST',
  path: '/v1/sessions',
  access: 'token',
  summary: 'Start a session',
  body: StartOptions,
  answers: answersJson(z.object({ session: Meta }), 201),
  async handle({ input }, { sessions }) {
    const started = await sessions.start(input.body)
    if (!started.ok) return started
    const snapshot = await started.value.snapshot()
    if (!snapshot.ok) return snapshot
    const headers = { location: `/v1/sessions/${started.value.id}` }
    return ok(Response.json({ session: snapshot.value.meta }, { status: 201, headers }))
  },
})

const { text: q, ...filters } = SearchOptions.shape

const searchMessages = defineRoute({
  method: 'GET',
  path: '/v1/search',
  access: 'token',
  summary: 'Search messages: the best of the newest 1,000 matches first',
  query: z.strictObject({ q, ...filters, limit: pageLimit(limits.searchHitsMax) }),
  answers: answersJson(FoundMessages),
  async handle({ input }, { sessions }) {
    const { q: text, ...rest } = input.query
    return sessions.search({ text, ...rest })
  },
})

export const sessionsRoutes: readonly Route[] = [listSessions, startSession, searchMessages]
