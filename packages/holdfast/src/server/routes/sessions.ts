import {
  ageForm,
  BranchName,
  FoundMessages,
  type FrameOf,
  ListedBranch,
  ListOptions,
  limits,
  listActiveTrust,
  Message,
  MessageId,
  Meta,
  ok,
  parseAge,
  type Result,
  SearchOptions,
  type SessionHandle,
  SessionList,
  SessionView,
  SnapshotFrame,
  StartOptions,
  TreeUsage,
  Trust,
} from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, type Call, defineRoute, flag, pageLimit, type Route, wholeNumber } from '../http/route.ts'

const { workspace, search, model, cursor, startedFor, activeFrom, activeBefore } = ListOptions.shape

const listSessions = defineRoute({
  on: 'GET /v1/sessions',
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
  on: 'POST /v1/sessions',
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
  on: 'GET /v1/search',
  access: 'token',
  summary: 'Search messages: the best of the newest 1,000 matches first',
  query: z.strictObject({ q, ...filters, limit: pageLimit(limits.searchHitsMax) }),
  answers: answersJson(FoundMessages),
  async handle({ input }, { sessions }) {
    const { q: text, ...rest } = input.query
    return sessions.search({ text, ...rest })
  },
})

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Defines a route that reads something of one session. */
function defineRead<Query = unknown>(
  name: string,
  summary: string,
  schema: z.ZodType,
  read: (handle: SessionHandle, call: Call<Query, unknown>) => Promise<Result<unknown>>,
  query?: z.ZodType<Query>,
): Route {
  return defineRoute<Query>({
    on: `GET /v1/sessions/:id${name}`,
    access: 'token',
    summary,
    ...(query && { query }),
    answers: answersJson(schema),
    async handle(call, { sessions, outbox }) {
      const handle = await sessions.open(call.session)
      if (!handle.ok) return handle
      const place = await outbox.enter('page')
      if (!place.ok) return place
      try {
        const answer = await read(handle.value, call)
        await nextTurn() // reading and encoding a large page are two steps
        return answer
      } finally {
        place.value()
      }
    },
  })
}

/** Reads one part of the snapshot. */
const fromSnapshot =
  (pick: (snapshot: FrameOf<'snapshot'>) => unknown) =>
  async (handle: SessionHandle): Promise<Result<unknown>> => {
    const snapshot = await handle.snapshot()
    return snapshot.ok ? ok(pick(snapshot.value)) : snapshot
  }

const getSession = defineRead(
  '',
  'Get a session: its state and the newest page of its transcript',
  SnapshotFrame.omit({ type: true, sessionId: true, meta: true }).extend({ session: Meta }),
  fromSnapshot(({ meta, seq, view, messages, before, summary, here }) => ({
    ...{ session: meta, seq, view, messages, before, summary, here },
  })),
)

const messageCursor = wholeNumber.pipe(MessageId).optional()

const getMessages = defineRead(
  '/messages',
  'Get a page of the transcript, or of a branch',
  z.object({
    session: Meta,
    messages: z.array(Message),
    before: MessageId.nullable(),
    after: MessageId.nullable(),
  }),
  (handle, { input }) => handle.page(input.query),
  z.strictObject({
    before: messageCursor,
    after: messageCursor,
    limit: pageLimit(limits.pageMessagesMax),
    branch: BranchName.optional(),
  }),
)

const getBranches = defineRead(
  '/branches',
  'List the branches, oldest first',
  z.object({ branches: z.array(ListedBranch) }),
  async (handle) => {
    const branches = await handle.branches()
    return branches.ok ? ok({ branches: branches.value }) : branches
  },
)

const getQueue = defineRead(
  '/queues',
  'List the queued prompts',
  SessionView.pick({ queue: true }),
  fromSnapshot(({ view }) => ({ queue: view.queue })),
)

const getTrust = defineRead(
  '/tool-trust',
  'List the standing approvals',
  z.object({ trust: z.array(Trust) }),
  fromSnapshot((snapshot) => ({ trust: listActiveTrust(snapshot) })),
)

const getApprovals = defineRead(
  '/approvals',
  'List the calls that wait for approval',
  z.object({ approvals: SessionView.shape.pendingApprovals }),
  fromSnapshot(({ view }) => ({ approvals: view.pendingApprovals })),
)

const getUsage = defineRead(
  '/usage',
  'Get the usage of a session; with `tree`, including its subagents',
  TreeUsage,
  (handle, { input }) =>
    input.query.tree ? handle.treeUsage() : fromSnapshot(({ meta }) => ({ usage: meta.usage, sessions: 1 }))(handle),
  z.strictObject({ tree: flag }),
)

export const sessionRoutes: readonly Route[] = [
  ...[listSessions, startSession, searchMessages],
  ...[getSession, getMessages, getBranches, getQueue, getTrust, getApprovals, getUsage],
]
