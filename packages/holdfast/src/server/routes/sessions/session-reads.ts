import {
  BackgroundShell,
  BranchName,
  ChildList,
  ClientEventPage,
  ListedBranch,
  limits,
  listActiveTrust,
  Message,
  MessageId,
  Meta,
  ok,
  Seq,
  ServerList,
  SessionView,
  SkillList,
  SlashCommandList,
  SnapshotFrame,
  StateField,
  StateFields,
  SubagentContext,
  ToolList,
  TreeUsage,
  Trust,
} from '@holdfast/protocol'
import { z } from 'zod'
import { hereFor } from '../../auth/public-storage-error.ts'
import { defineRead, defineStateRead, readState } from '../../define/define-read.ts'
import { answersJson, defineRoute, flag, pageLimit, type Route, wholeNumber } from '../../define/route.ts'
import { sessionFileRoutes } from './session-files.ts'

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

const getSessionTools = defineRoute({
  on: 'GET /v1/sessions/:id/tools',
  summary: 'List the tools of a session, with the rules and the sandbox in force, and its edit boundaries',
  answers: answersJson(ToolList),
  refuses: ['not_found', 'bad_config', 'bad_workdir'],
  async handle({ session }, { sessions, tools }) {
    const handle = await sessions.open(session)
    return handle.ok ? tools.list({ session: handle.value.id }) : handle
  },
})

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

export const sessionReadRoutes: readonly Route[] = [
  ...[getSession, getState, getMessages, getBranches, getClientEvents],
  ...sessionFileRoutes,
  ...[getShells, getSessionTools, getServers, getSkills, getCommands, getSubagents, getSubagentContext],
  ...[getTodos, getQueue, getTrust, getApprovals, getUsage],
]
