import {
  ageForm,
  BackgroundShell,
  BranchName,
  ChildList,
  ClientEventPage,
  FoundMessages,
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
  refuse,
  SearchOptions,
  Seq,
  ServerList,
  type SessionHandle,
  SessionList,
  SessionView,
  SkillList,
  SlashCommandList,
  SnapshotFrame,
  StartOptions,
  StateField,
  StateFields,
  SubagentContext,
  TreeUsage,
  Trust,
} from '@holdfast/protocol'
import { z } from 'zod'
import { hereFor } from '../auth/public-storage-error.ts'
import { defineRead, defineStateRead, readState } from '../define/define-read.ts'
import { answersJson, defineRoute, flag, pageLimit, type Route, wholeNumber } from '../define/route.ts'
import { sessionFaults } from '../define/route-faults.ts'
import { sessionFileRoutes } from './session-files.ts'
import { getSessionTools } from './tools.ts'

const { workspace, search, model, cursor, startedFor, activeFrom, activeBefore } = ListOptions.shape

const onlyTrue = z
  .literal('true')
  .transform(() => true as const)
  .optional()

const listSessions = defineRoute({
  on: 'GET /v1/sessions',
  summary: 'List sessions, newest first',
  query: z.strictObject({
    ...{ workspace, search, model, cursor, startedFor, activeFrom, activeBefore },
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
    ...(['not_ready', 'blob_not_found'] as const),
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

const getSession = defineRead(
  '',
  'Get a session: its state and the newest page of its transcript',
  SnapshotFrame.omit({ type: true, sessionId: true, meta: true }).extend({ session: Meta }),
  async (handle, { caller }) => {
    const snapshot = await handle.snapshot()
    if (!snapshot.ok) return snapshot
    const { meta, seq, view, messages, before, summary, here } = snapshot.value
    return ok({ session: meta, seq, view, messages, before, summary, here: here && hereFor(caller, here) })
  },
)

const getState = defineRoute({
  on: 'GET /v1/sessions/:id/state',
  summary: 'Get the state of a session without its transcript; `fields` names the fields to send',
  query: z.strictObject({
    fields: z
      .string()
      .max(1000)
      .transform((names) => names.split(','))
      .pipe(z.array(StateField).min(1))
      .optional(),
  }),
  answers: answersJson(StateFields.partial()),
  async handle({ session, input, caller }, { sessions }) {
    const state = await readState(sessions, session, input.query.fields ?? StateField.options)
    if (!state.ok) return state
    const { here } = state.value
    return here ? ok({ ...state.value, here: hereFor(caller, here) }) : state
  },
})

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
  ['branch_not_found'],
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

const getClientEvents = defineRead(
  '/client-events',
  'Get a page of the events that clients stored, oldest first',
  ClientEventPage,
  (handle, { input }) => handle.clientEvents(input.query),
  z.strictObject({ after: wholeNumber.pipe(Seq).optional(), limit: pageLimit(limits.pageRecordsMax) }),
)

const getShells = defineRead(
  '/shells',
  'List the commands in the background, also those that have ended',
  z.object({ shells: z.array(BackgroundShell) }),
  async (handle) => {
    const shells = await handle.backgroundShells()
    return shells.ok ? ok({ shells: shells.value }) : shells
  },
)

const getSkills = defineRead(
  '/skills',
  'List the skills of the user and the workspace, and which of them the session follows',
  SkillList,
  async (handle) => {
    const skills = await handle.skills()
    return skills.ok ? ok({ skills: [...skills.value] }) : skills
  },
)

const getServers = defineRead(
  '/servers',
  'List the MCP servers of the user and the workspace, and which of them the session uses',
  ServerList,
  async (handle) => {
    const servers = await handle.servers()
    return servers.ok ? ok({ servers: [...servers.value] }) : servers
  },
)

const getCommands = defineRead(
  '/commands',
  'List the slash commands that a prompt can begin with',
  SlashCommandList,
  async (handle) => {
    const commands = await handle.commands()
    return commands.ok ? ok({ commands: [...commands.value] }) : commands
  },
)

const getSubagents = defineRead(
  '/subagents',
  'List the subagents of the session and of its subagents, with the approvals they wait for',
  ChildList,
  async (handle) => {
    const subagents = await handle.subagents()
    return subagents.ok ? ok({ subagents: [...subagents.value] }) : subagents
  },
)

const getSubagentContext = defineRead(
  '/subagent-context',
  'Get what a subagent would inherit if it started now, and why none can start',
  SubagentContext,
  (handle) => handle.subagentContext(),
)

const getTodos = defineStateRead(
  '/todos',
  "List the agent's tasks",
  SessionView.pick({ todos: true }),
  ['todos'],
  ({ todos }) => ({ todos }),
)

const getQueue = defineStateRead(
  '/queues',
  'List the queued prompts',
  SessionView.pick({ queue: true }),
  ['queue'],
  ({ queue }) => ({ queue }),
)

const getTrust = defineStateRead(
  '/tool-trust',
  'List the standing approvals',
  z.object({ trust: z.array(Trust) }),
  ['trust', 'here'],
  ({ trust, here }) => ({ trust: listActiveTrust({ view: { trust }, here }) }),
)

const getApprovals = defineStateRead(
  '/approvals',
  'List the calls that wait for approval',
  z.object({ approvals: SessionView.shape.pendingApprovals }),
  ['pendingApprovals'],
  ({ pendingApprovals }) => ({ approvals: pendingApprovals }),
)

const getUsage = defineRoute({
  on: 'GET /v1/sessions/:id/usage',
  summary: 'Get the usage of a session; with `tree`, including its subagents',
  query: z.strictObject({ tree: flag }),
  answers: answersJson(TreeUsage),
  async handle({ session, input }, { sessions }) {
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    if (input.query.tree) return handle.value.treeUsage()
    const state = await handle.value.state(['meta'])
    return state.ok ? ok({ usage: state.value.meta.usage, sessions: 1 }) : state
  },
})

export const sessionRoutes: readonly Route[] = [
  ...[listSessions, startSession, findByKey, findLatest, searchMessages],
  ...[getSession, getState, getMessages, getBranches, getClientEvents],
  ...sessionFileRoutes,
  ...[getShells, getSessionTools, getServers, getSkills, getCommands, getSubagents, getSubagentContext],
  ...[getTodos, getQueue, getTrust, getApprovals, getUsage],
  stopSession,
]
