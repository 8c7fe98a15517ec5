import {
  type ClientId,
  type Fault,
  ForwardedSubmission,
  type Frame,
  fault,
  NodeCall,
  NodeFollow,
  type NodeNews,
  ok,
  parseOptions,
  type Result,
  type Role,
  refuse,
  type SessionId,
  type StartOptions,
} from '@holdfast/protocol'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { tenantStores } from '../registry/tenant-stores.ts'
import { createRemovals } from '../removal/removals.ts'
import { forwardedReads } from './local-session.ts'
import { createOwnSession } from './own-session.ts'

type ServedSeat = { readonly client: ClientId; readonly role: Role; leave(): void }

/** What a node does for other nodes with its own sessions. It forwards nothing, so a request goes at most one hop. */
export interface NodeApi {
  /** Runs a method. Refused: bad_request, session_locked if another node owns the session, what the method refuses. */
  call(request: unknown): Promise<Result<unknown>>
  /** Follows a session of this node until `signal` aborts. Refused: bad_request. */
  follow(request: unknown, signal: AbortSignal): Result<AsyncIterable<Frame>>
  /** Attaches a client until it leaves. Refused: bad_request, session_locked. */
  sit(request: unknown): Promise<Result<ServedSeat>>
  /** Follows what happens to the sessions of this node. */
  news(signal: AbortSignal): AsyncIterable<NodeNews>
}

type Method = (id: SessionId, args: readonly unknown[]) => Promise<Result<unknown>>

export function createNodeApi(registry: SessionRegistry): NodeApi {
  const methods = createMethods(registry)
  return {
    async call(given) {
      const request = parseOptions(NodeCall, given, 'forward a call')
      if (!request.ok) return request
      const method = methods.get(request.value.method)
      const closed = registry.closedFault()
      if (closed) return refuse(closed)
      return method ? method(request.value.session, request.value.args) : refuse(noMethod(request.value.method))
    },

    follow(given, signal) {
      const request = parseOptions(NodeFollow, given, 'follow a session')
      if (!request.ok) return request
      const { session, ...options } = request.value
      return ok(createOwnSession(registry, session).subscribe({ ...options, signal }))
    },

    async sit(given) {
      const request = parseOptions(NodeFollow, given, 'attach to a session')
      if (!request.ok) return request
      const { session, client, role, caller } = request.value
      const seat = await createOwnSession(registry, session).attach({ client, role, caller })
      if (!seat.ok) return seat
      return ok({ client: seat.value.client, role: seat.value.role, leave: () => void seat.value.detach() })
    },

    news: (signal) => registry.news.follow(signal),
  }
}

const noMethod = (method: string): Fault =>
  fault('bad_request', `This process has no method ${method}. Its version differs: restart it.`)

function createMethods(registry: SessionRegistry): ReadonlyMap<string, Method> {
  const removals = createRemovals(registry)
  const reads = forwardedReads.map((method): readonly [string, Method] => [
    method,
    (id, args) => {
      const session = createOwnSession(registry, id)
      // Each method parses its arguments, as of any caller.
      return (session[method] as (...given: readonly unknown[]) => Promise<Result<unknown>>)(...args)
    },
  ])
  return new Map<string, Method>([
    ...reads,
    [
      'dispatch',
      async (id, [given]) => {
        const submission = parseOptions(ForwardedSubmission, given, 'forward a command')
        return submission.ok ? createOwnSession(registry, id).dispatch(submission.value) : submission
      },
    ],
    [
      'start',
      async (id, [options, tenant]) => {
        const within = typeof tenant === 'string' ? tenantStores(registry.stores, tenant) : registry.stores
        const started = await registry.start(options as StartOptions, within, id) // parsed there
        return started.ok ? ok(null) : started
      },
    ],
    [
      'stop',
      async (id) => {
        await registry.unload(id)
        return ok(null)
      },
    ],
    ['delete', (id, [options]) => removals.delete(id, options as object)], // parsed there
    ['purge', (id, [options]) => removals.purge(id, options as object)],
    ['attached', async () => ok(registry.all().map(({ id, hub }) => [id, hub.attached]))],
  ])
}
