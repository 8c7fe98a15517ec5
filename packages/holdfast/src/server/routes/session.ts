import {
  BranchName,
  type FrameOf,
  ListedBranch,
  limits,
  listActiveTrust,
  Message,
  MessageId,
  Meta,
  ok,
  PendingApproval,
  ProcessView,
  QueueEntry,
  type Result,
  Seq,
  type SessionHandle,
  SessionView,
  TreeUsage,
  Trust,
} from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, type Call, defineRoute, flag, pageLimit, type Route, wholeNumber } from '../http/route.ts'

/** Defines a route that reads something of one session. */
function defineRead<Query = unknown>(
  name: string,
  summary: string,
  schema: z.ZodType,
  read: (handle: SessionHandle, call: Call<Query, unknown>) => Promise<Result<unknown>>,
  query?: z.ZodType<Query>,
): Route {
  return defineRoute<Query>({
    method: 'GET',
    path: `/v1/sessions/:id${name}`,
    access: 'token',
    summary,
    ...(query && { query }),
    answers: answersJson(schema),
    async handle(call, { sessions }) {
      const handle = await sessions.open(call.session)
      return handle.ok ? read(handle.value, call) : handle
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
  z.object({
    session: Meta,
    seq: Seq,
    view: SessionView,
    messages: z.array(Message),
    before: MessageId.nullable(),
    summary: z.string().nullable(),
    here: ProcessView.nullable(),
  }),
  fromSnapshot(({ meta, seq, view, messages, before, summary, here }) => ({
    ...{ session: meta, seq, view, messages, before, summary, here },
  })),
)

const cursor = wholeNumber.pipe(MessageId).optional()

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
    before: cursor,
    after: cursor,
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
  z.object({ queue: z.array(QueueEntry) }),
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
  z.object({ approvals: z.array(PendingApproval) }),
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
  ...[getSession, getMessages, getBranches, getQueue, getTrust, getApprovals, getUsage],
]
