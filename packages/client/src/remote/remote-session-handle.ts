import {
  Answer,
  Command,
  commandFault,
  createCommandId,
  Frame,
  type FrameOf,
  ListedBranch,
  Message,
  MessageId,
  Meta,
  ModelList,
  ok,
  type PageRequest,
  type Result,
  refuse,
  type SessionHandle,
  type SessionId,
  TreeUsage,
} from '@holdfast/protocol'
import { follow } from '../http/follow.ts'
import type { FollowOptions } from '../http/follow-stream.ts'
import { type Ask, backoffMs, field, type Http, notUnderstood } from '../http/http.ts'

const triesMax = 5

/** A session of a server. What was sent and not answered is sent again under the same command id, so it happens once. */
export interface RemoteSessionHandle extends SessionHandle {
  subscribe(options?: FollowOptions): AsyncIterable<Frame>
}

export function createRemoteSessionHandle(wire: Http, id: SessionId): RemoteSessionHandle {
  const path = `/v1/sessions/${id}`

  return {
    id,

    async submit(input, { commandId, as } = {}) {
      const command = Command.safeParse(input)
      if (!command.success) return refuse(commandFault(input, command.error))
      // A client's own event has an id already: the server makes the command's of it, and admits it once.
      const newId = command.data.type === 'appendClientEvent' ? undefined : createCommandId()
      const ask = {
        body: { ...command.data, commandId: commandId ?? newId },
        headers: as === undefined ? {} : { 'holdfast-attachment': as },
      }
      for (let failures = 0; ; failures++) {
        const answer = await wire.json(`${path}/commands`, ask)
        if (answer.ok) {
          const parsed = Answer.safeParse(answer.value)
          return parsed.success ? ok(parsed.data) : notUnderstood('a command')
        }
        if (answer.fault.code !== 'unreachable' || failures + 1 >= triesMax) return answer
        await wire.pace.wait(backoffMs(failures, wire.pace.chance()))
      }
    },

    subscribe: (options) => follow(wire, id, options),
    snapshot: () => readSnapshot(wire, id),

    async page(request = {}) {
      const page = await wire.json(`${path}/messages${pageQuery(request)}`)
      if (!page.ok) return page
      const session = Meta.safeParse(field(page.value, 'session'))
      const messages = Message.array().safeParse(field(page.value, 'messages'))
      const before = MessageId.nullable().safeParse(field(page.value, 'before'))
      const after = MessageId.nullable().safeParse(field(page.value, 'after'))
      if (!session.success || !messages.success || !before.success || !after.success) return notUnderstood('a page')
      return ok({ session: session.data, messages: messages.data, before: before.data, after: after.data })
    },

    async branches() {
      const answer = await wire.json(`${path}/branches`)
      if (!answer.ok) return answer
      const branches = ListedBranch.array().safeParse(field(answer.value, 'branches'))
      return branches.success ? ok(branches.data) : notUnderstood('a list of branches')
    },

    models: () => readModels(wire),

    async treeUsage() {
      const answer = await wire.json(`${path}/usage?tree=true`)
      if (!answer.ok) return answer
      const used = TreeUsage.safeParse(answer.value)
      return used.success ? ok(used.data) : notUnderstood('what was used')
    },

    async blob(hash) {
      const stream = await wire.stream(`${path}/blobs/${hash}`)
      return stream.ok ? ok(chunksOf(stream.value)) : stream
    },
  }
}

/** The snapshot of the session that `name` means, which is also how a name becomes an id. */
export async function readSnapshot(wire: Http, name: string): Promise<Result<FrameOf<'snapshot'>>> {
  const answer = await wire.json(`/v1/sessions/${encodeURIComponent(name)}`)
  if (!answer.ok) return answer
  const session = field(answer.value, 'session')
  const frame = Frame.safeParse({
    type: 'snapshot',
    sessionId: field(session, 'id'),
    meta: session,
    seq: field(answer.value, 'seq'),
    view: field(answer.value, 'view'),
    messages: field(answer.value, 'messages'),
    before: field(answer.value, 'before'),
    summary: field(answer.value, 'summary'),
    here: field(answer.value, 'here'),
  })
  return frame.success && frame.data.type === 'snapshot' ? ok(frame.data) : notUnderstood('a snapshot')
}

/** Not every browser lets a stream be walked. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    await reader.cancel().catch(() => undefined) // it may be over, or broken, which is told by `read`
  }
}

function pageQuery(request: PageRequest): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(request)) if (value !== undefined) query.set(name, String(value))
  return query.size > 0 ? `?${query}` : ''
}

/** What a server says can be called, and why the rest cannot. */
export async function readModels(wire: Http, path = '/v1/models', ask?: Ask): Promise<Result<ModelList>> {
  const answer = await wire.json(path, ask)
  if (!answer.ok) return answer
  const list = ModelList.safeParse(answer.value)
  return list.success ? ok(list.data) : notUnderstood('a list of models')
}
