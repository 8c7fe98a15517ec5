import {
  Answer,
  ChangesDiff,
  ClientEventPage,
  Command,
  commandFault,
  createCommandId,
  FileChangePage,
  FileLines,
  type Frame,
  type FrameOf,
  ListedBranch,
  Message,
  MessageId,
  Meta,
  ModelList,
  ok,
  RestorePreview,
  type Result,
  refuse,
  type SessionHandle,
  type SessionId,
  SnapshotFrame,
  type StateField,
  type StateFields,
  stateSchema,
  TreeUsage,
} from '@holdfast/protocol'
import { follow } from '../http/follow.ts'
import type { FollowOptions } from '../http/follow-stream.ts'
import { type Ask, backoffMs, chunksOf, field, type Http, parseAnswer, queryOf } from '../http/http.ts'
import { takeRemoteSeat } from './remote-seat.ts'

const triesMax = 5

/** A session of a server. Unanswered commands are sent again with the same command id, so they run once. */
export interface RemoteSessionHandle extends SessionHandle {
  subscribe(options?: FollowOptions): AsyncIterable<Frame>
}

export function createRemoteSessionHandle(wire: Http, id: SessionId): RemoteSessionHandle {
  const path = `/v1/sessions/${id}`

  const handle: RemoteSessionHandle = {
    id,

    async submit(input, { commandId, as } = {}) {
      const command = Command.safeParse(input)
      if (!command.success) return refuse(commandFault(input, command.error))
      // The server derives the command id of a client event from the event's own id.
      const newId = command.data.type === 'appendClientEvent' ? undefined : createCommandId()
      const ask = {
        body: { ...command.data, commandId: commandId ?? newId },
        headers: as === undefined ? {} : { 'holdfast-attachment': as },
      }
      for (let failures = 0; ; failures++) {
        const answer = await wire.json(`${path}/commands`, ask)
        if (answer.ok) return parseAnswer(answer, 'a command', Answer)
        // A server that restarted does not know the client until its stream is back.
        const isBack = failures > 0 && as !== undefined && answer.fault.code === 'not_subscribed'
        if ((answer.fault.code !== 'unreachable' && !isBack) || failures + 1 >= triesMax) return answer
        await wire.pace.wait(backoffMs(failures, wire.pace.chance()))
      }
    },

    attach: (options = {}) => takeRemoteSeat({ wire, handle, submit: handle.submit }, options),
    subscribe: (options) => follow(wire, id, options),
    snapshot: () => readSnapshot(wire, id),
    state: (fields) => readState(wire, id, fields),

    async page(request = {}) {
      const page = await wire.json(`${path}/messages${queryOf(request)}`)
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

    clientEvents: async (request = {}) =>
      parseAnswer(await wire.json(`${path}/client-events${queryOf(request)}`), 'client events', ClientEventPage),

    fileChanges: async (request = {}) =>
      parseAnswer(await wire.json(`${path}/file-changes${queryOf(request)}`), 'file changes', FileChangePage),

    diffChanges: async (request = {}) =>
      parseAnswer(await wire.json(`${path}/diff${queryOf(request)}`), 'a diff', ChangesDiff),

    previewRestore: async ({ paths, ...point }) => {
      const query = queryOf({ ...point, paths: paths && JSON.stringify(paths) })
      return parseAnswer(await wire.json(`${path}/restore-preview${query}`), 'a preview', RestorePreview)
    },

    readFile: async (request) =>
      parseAnswer(await wire.json(`${path}/file${queryOf(request)}`), 'lines of a file', FileLines),

    branches: async () =>
      parseAnswer(await wire.json(`${path}/branches`), 'a list of branches', ListedBranch.array(), 'branches'),

    models: () => readModels(wire),

    treeUsage: async () => parseAnswer(await wire.json(`${path}/usage?tree=true`), 'a usage request', TreeUsage),

    async blob(hash) {
      const stream = await wire.stream(`${path}/blobs/${hash}`)
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
