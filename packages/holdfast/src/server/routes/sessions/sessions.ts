import {
  ageForm,
  FoundMessages,
  ListOptions,
  limits,
  Meta,
  ok,
  parseAge,
  type Result,
  refuse,
  SearchOptions,
  type SessionHandle,
  SessionList,
  StartOptions,
} from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, defineRoute, flag, pageLimit, type Route } from '../../define/route.ts'
import { sessionFaults } from '../../define/route-faults.ts'
import { sessionReadRoutes } from './session-reads.ts'

const { workspace, search, model, cursor, startedFor, activeFrom, activeBefore } = ListOptions.shape

const onlyTrue = z
  .literal('true')
  .transform(() => true as const)
  .optional()

const listSessions = defineRoute({
  on: 'GET /v1/sessions',
  summary: 'List sessions, newest first',
  query: z.strictObject({
    workspace,
    search,
    model,
    cursor,
    startedFor,
    activeFrom,
    activeBefore,
    limit: pageLimit(limits.listSessionsMax),
    age: z
      .string()
      .refine((text) => parseAge(text) !== null, `give ${ageForm}`)
      .optional(),
    pinned: flag,
    subagents: flag,
    running: onlyTrue,
    waiting: onlyTrue,
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
  on: 'POST /v1/sessions',
  summary: 'Start a session',
  body: StartOptions,
  answers: { ...answersJson(z.object({ session: Meta }), 201), headers: { Location: 'The path of the session' } },
  refuses: [
    ...([
      'unknown_model',
      'unknown_level',
      'session_not_found',
      'session_stopped',
      'key_taken',
      'handle_taken',
    ] as const),
    ...(['not_ready', 'blob_not_found', 'workdir_elsewhere', 'session_locked', 'unreachable'] as const),
  ],
  async handle({ input, caller }, { sessions, ownFiles }) {
    const foreign = await ownFiles.findForeign(caller, null, input.body)
    if (foreign) return refuse(foreign)
    const started = await sessions.start(input.body)
    if (!started.ok) return started
    const state = await started.value.state(['meta'])
    if (!state.ok) return state
    const headers = { location: `/v1/sessions/${started.value.id}` }
    return ok(Response.json({ session: state.value.meta }, { status: 201, headers }))
  },
})

const oneOrNone = answersJson(z.object({ session: Meta.nullable() }))

/** Answers with the row of a session that was looked for, or with null. */
async function answerFound(found: Result<SessionHandle | null>): Promise<Result<{ readonly session: Meta | null }>> {
  if (!found.ok) return found
  const state = found.value === null ? null : await found.value.state(['meta'])
  if (state === null) return ok({ session: null })
  return state.ok ? ok({ session: state.value.meta }) : state
}

const findByKey = defineRoute({
  on: 'GET /v1/find',
  summary: 'Find the session with a key',
  query: z.strictObject({ key: z.string() }),
  answers: oneOrNone,
  refuses: sessionFaults,
  handle: async ({ input }, { sessions }) => answerFound(await sessions.findByKey(input.query.key)),
})

const findLatest = defineRoute({
  on: 'GET /v1/latest',
  summary: 'Find the session of a workspace with the latest message',
  query: z.strictObject({ workspace: z.string().optional() }),
  answers: oneOrNone,
  refuses: sessionFaults,
  handle: async ({ input }, { sessions }) => answerFound(await sessions.latest(input.query.workspace)),
})

/** Only an admin may stop: it disconnects others. */
const stopSession = defineRoute({
  on: 'POST /v1/sessions/:id/stop',
  summary: 'Unload a session: its turn is interrupted and its streams end; the next use loads it again',
  answers: answersJson(z.object({})),
  async handle({ session }, { sessions }) {
    const stopped = await sessions.stop(session)
    return stopped.ok ? ok({}) : stopped
  },
})

const { text: q, ...filters } = SearchOptions.shape

const searchMessages = defineRoute({
  on: 'GET /v1/search',
  summary: 'Search messages: the best of the newest 1,000 matches first',
  query: z.strictObject({ q, ...filters, limit: pageLimit(limits.searchHitsMax) }),
  answers: answersJson(FoundMessages),
  refuses: ['bad_id', 'session_not_found', 'session_trashed'],
  async handle({ input }, { sessions }) {
    const { q: text, ...rest } = input.query
    return sessions.search({ text, ...rest })
  },
})

export const sessionRoutes: readonly Route[] = [
  ...[listSessions, startSession, findByKey, findLatest, searchMessages],
  ...sessionReadRoutes,
  stopSession,
]
