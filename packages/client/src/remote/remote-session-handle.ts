import {
  Answer,
  BackgroundShell,
  BlobHash,
  ChildView,
  ClientEventPage,
  ClientEventRequest,
  type Command,
  CommandOptions,
  createCommandId,
  DiffRequest,
  FileChangePage,
  FileChangeRequest,
  FileDiffs,
  FileLines,
  FileLinesRequest,
  type Frame,
  type FrameOf,
  InstructionFile,
  ListedBoundary,
  ListedBranch,
  ListedSkill,
  Message,
  MessageId,
  Meta,
  ModelList,
  ok,
  PageRequest,
  parseCommand,
  parseOptions,
  RestorePreview,
  RestoreRequest,
  type Result,
  type SessionHandle,
  type SessionId,
  SessionServer,
  SlashCommand,
  SnapshotFrame,
  type StateField,
  type StateFields,
  SubagentContext,
  stateSchema,
  TreeUsage,
} from '@holdfast/protocol'
import { createKeyedQueue } from '@holdfast/protocol/serial-queue'
import { follow } from '../http/follow.ts'
import type { FollowOptions } from '../http/follow-stream.ts'
import { type Ask, backoffMs, chunksOf, field, type Http, parseAnswer, queryOf } from '../http/http.ts'
import { takeRemoteSeat } from './remote-seat.ts'

const triesMax = 5

/** A session of a server. Unanswered commands are sent again with the same command id, so they run once. */
export interface RemoteSessionHandle extends SessionHandle {
  subscribe(options?: FollowOptions): AsyncIterable<Frame>
}

/** Sends the commands of each session one at a time, so that they arrive in the order in which the program gave them. */
export type CommandOrder = ReturnType<typeof createKeyedQueue>

/** Sent at once: a stop must not wait for a command that the server does not answer, and a person's answer not for one that waits for it. */
const overtaking: ReadonlySet<Command['type']> = new Set(['abort', 'respondToApproval'])

export function createRemoteSessionHandle(
  wire: Http,
  id: SessionId,
  inOrder: CommandOrder = createKeyedQueue(),
): RemoteSessionHandle {
  const path = `/v1/sessions/${id}`

  /** Sends a command until the server answers. */
  const send = async (ask: Ask, as: string | undefined): Promise<Result<Answer>> => {
    for (let failures = 0; ; failures++) {
      const answer = await wire.json(`${path}/commands`, ask)
      if (answer.ok) return parseAnswer(answer, 'a command', Answer)
      // A server that restarted does not know the client until its stream is back.
      const isBack = failures > 0 && as !== undefined && answer.fault.code === 'not_subscribed'
      if ((answer.fault.code !== 'unreachable' && !isBack) || failures + 1 >= triesMax) return answer
      await wire.pace.wait(backoffMs(failures, wire.pace.chance()))
    }
  }

  const handle: RemoteSessionHandle = {
    id,

    async submit(input, given = {}) {
      const command = parseCommand(input)
      if (!command.ok) return command
      const options = parseOptions(CommandOptions, given, 'send a command')
      if (!options.ok) return options
      const { commandId, as } = options.value
      // The server derives the command id of a client event from the event's own id.
      const newId = command.value.type === 'appendClientEvent' ? undefined : createCommandId()
      const ask = {
        body: { ...command.value, commandId: commandId ?? newId },
        headers: as === undefined ? {} : { 'holdfast-attachment': as },
      }
      return overtaking.has(command.value.type) ? send(ask, as) : inOrder(id, () => send(ask, as))
    },

    attach: (options = {}) => takeRemoteSeat({ wire, handle, submit: handle.submit }, options),
    subscribe: (options) => follow(wire, id, options),
    snapshot: () => readSnapshot(wire, id),
    state: (fields) => readState(wire, id, fields),

    async page(given = {}) {
      const request = parseOptions(PageRequest, given, 'read a page')
      if (!request.ok) return request
      const page = await wire.json(`${path}/messages${queryOf(request.value)}`)
      const session = parseAnswer(page, 'a page', Meta, 'session')
      const messages = parseAnswer(page, 'a page', Message.array(), 'messages')
      const before = parseAnswer(page, 'a page', MessageId.nullable(), 'before')
      const after = parseAnswer(page, 'a page', MessageId.nullable(), 'after')
      if (!session.ok) return session
      if (!messages.ok) return messages
      if (!before.ok) return before
      if (!after.ok) return after
      return ok({ session: session.value, messages: messages.value, before: before.value, after: after.value })
    },

    async clientEvents(given = {}) {
      const request = parseOptions(ClientEventRequest, given, 'read client events')
      if (!request.ok) return request
      const answer = await wire.json(`${path}/client-events${queryOf(request.value)}`)
      return parseAnswer(answer, 'client events', ClientEventPage)
    },

    async fileChanges(given = {}) {
      const request = parseOptions(FileChangeRequest, given, 'read file changes')
      if (!request.ok) return request
      const answer = await wire.json(`${path}/file-changes${queryOf(request.value)}`)
      return parseAnswer(answer, 'file changes', FileChangePage)
    },

    async diffChanges(given = {}) {
      const request = parseOptions(DiffRequest, given, 'show the changes')
      if (!request.ok) return request
      return parseAnswer(await wire.json(`${path}/diff${queryOf(request.value)}`), 'a diff', FileDiffs)
    },

    async previewRestore(given) {
      const request = parseOptions(RestoreRequest, given, 'restore files')
      if (!request.ok) return request
      const { paths, ...point } = request.value
      const query = queryOf({ ...point, paths: paths && JSON.stringify(paths) })
      return parseAnswer(await wire.json(`${path}/restore-preview${query}`), 'a preview', RestorePreview)
    },

    async readFile(given) {
      const request = parseOptions(FileLinesRequest, given, 'read a file')
      if (!request.ok) return request
      return parseAnswer(await wire.json(`${path}/file${queryOf(request.value)}`), 'lines of a file', FileLines)
    },

    boundaries: async () =>
      parseAnswer(await wire.json(`${path}/boundaries`), 'a list of boundaries', ListedBoundary.array(), 'boundaries'),

    backgroundShells: async () =>
      parseAnswer(await wire.json(`${path}/shells`), 'a list of commands', BackgroundShell.array(), 'shells'),

    servers: async () =>
      parseAnswer(await wire.json(`${path}/servers`), 'a list of servers', SessionServer.array(), 'servers'),

    skills: async () =>
      parseAnswer(await wire.json(`${path}/skills`), 'a list of skills', ListedSkill.array(), 'skills'),

    instructionFiles: async () =>
      parseAnswer(await wire.json(`${path}/instructions`), 'a list of files', InstructionFile.array(), 'files'),

    commands: async () =>
      parseAnswer(await wire.json(`${path}/commands`), 'a list of commands', SlashCommand.array(), 'commands'),

    branches: async () =>
      parseAnswer(await wire.json(`${path}/branches`), 'a list of branches', ListedBranch.array(), 'branches'),

    models: () => readModels(wire),

    subagents: async () =>
      parseAnswer(await wire.json(`${path}/subagents`), 'a list of subagents', ChildView.array(), 'subagents'),

    subagentContext: async () =>
      parseAnswer(await wire.json(`${path}/subagent-context`), 'what subagents inherit', SubagentContext),

    treeUsage: async () => parseAnswer(await wire.json(`${path}/usage?tree=true`), 'a usage request', TreeUsage),

    async blob(given) {
      const hash = parseOptions(BlobHash, given, 'read a blob')
      if (!hash.ok) return hash
      const stream = await wire.stream(`${path}/blobs/${hash.value}`)
      return stream.ok ? ok(chunksOf(stream.value)) : stream
    },
  }
  return handle
}

/** Reads fields of the state of a session by name. */
export async function readState<Field extends StateField>(
  wire: Http,
  name: string,
  fields: readonly Field[],
): Promise<Result<Pick<StateFields, Field>>> {
  const answer = await wire.json(`/v1/sessions/${encodeURIComponent(name)}/state?fields=${fields.join(',')}`)
  return parseAnswer(answer, 'a state request', stateSchema(fields))
}

async function readSnapshot(wire: Http, name: string): Promise<Result<FrameOf<'snapshot'>>> {
  const answer = await wire.json(`/v1/sessions/${encodeURIComponent(name)}`)
  if (!answer.ok) return answer
  const meta = field(answer.value, 'session')
  const body = typeof answer.value === 'object' ? answer.value : {}
  return parseAnswer(ok({ ...body, type: 'snapshot', sessionId: field(meta, 'id'), meta }), 'a snapshot', SnapshotFrame)
}

/** Reads the models of a server. */
export const readModels = async (wire: Http, path = '/v1/models', ask?: Ask): Promise<Result<ModelList>> =>
  parseAnswer(await wire.json(path, ask), 'a list of models', ModelList)
