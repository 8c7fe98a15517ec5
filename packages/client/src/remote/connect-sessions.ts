import {
  ClearOptions,
  DeleteOptions,
  EmptyTrashOptions,
  FoundMessages,
  ListOptions,
  limits,
  Meta,
  ok,
  PruneOptions,
  parseFolder,
  parseKey,
  parseOptions,
  parseSessionName,
  parseStartOptions,
  parseUpload,
  Removal,
  type Result,
  SearchOptions,
  SessionList,
  type SessionNews,
  type Sessions,
  StoredFile,
} from '@holdfast/protocol'
import { createKeyedQueue } from '@holdfast/protocol/serial-queue'
import { type FollowNewsOptions, followNews } from '../http/follow.ts'
import { type Ask, createHttp, type Http, type Pace, parseAnswer, queryOf, wait } from '../http/http.ts'
import { createSharedStream } from '../http/shared-stream.ts'
import {
  type CommandOrder,
  createRemoteSessionHandle,
  type RemoteSessionHandle,
  readModels,
  readState,
} from './remote-session-handle.ts'

/** How to reach a server. */
export type ConnectOptions = {
  /** Address of the server, e.g. `http://127.0.0.1:4820`; `location.origin` in its own page. */
  readonly url: string
  /** When absent, the cookie of the page is used. */
  readonly token?: string | undefined
  /** The `fetch` to use; the global one by default. */
  readonly fetch?: typeof fetch | undefined
  /**
   * Whether the news and all sessions share one connection, instead of one each. A browser allows six connections to a
   * server.
   */
  readonly sharedStream?: boolean | undefined
  /** For tests: time and randomness. */
  readonly pace?: Partial<Pace> | undefined
}

/** The answer of a server that is up: its version. */
export type Health = { readonly status: 'ok'; readonly version: string }

/** The sessions of a server, with the same interface as local ones. */
export interface RemoteSessions extends Sessions {
  /** Starts a session on the server. Refused: options that cannot be used, such as bad_workdir and key_taken. */
  start(...args: Parameters<Sessions['start']>): Promise<Result<RemoteSessionHandle>>
  open(name: string): Promise<Result<RemoteSessionHandle>>
  findByKey(key: string): Promise<Result<RemoteSessionHandle | null>>
  latest(workspace?: string): Promise<Result<RemoteSessionHandle | null>>
  /** Reconnects automatically; load the list again to see what was missed. */
  subscribe(options?: FollowNewsOptions): AsyncIterable<SessionNews>
  /**
   * Leaves the sessions that are followed, until `resume`. With `keepNews` the news still come. Attachments of a shared
   * connection are kept for a day.
   */
  pause(options?: { readonly keepNews?: boolean | undefined }): Promise<void>
  /** Follows them again, each from its cursor. */
  resume(): void
  /** Gives up the attachments that `pause` kept. For a page that closes: the requests outlive it. */
  leave(): void
  /** Connects the shared connection again at once, if it waits for its next try. */
  reconnect(): void
  /** Asks the server whether it is up. Refused: unreachable. */
  health(): Promise<Result<Health>>
}

/** Creates the client of a server's sessions. It sends nothing until a method is called. */
export const connectSessions = (options: ConnectOptions): RemoteSessions => createRemoteSessions(connectWire(options))

/** Creates the connection that all requests to one server share. */
export function connectWire({ url, token, fetch, sharedStream = false, pace }: ConnectOptions): Http {
  const wire = createHttp({
    url,
    token,
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)), // a browser's fetch needs its `this`
    pace: { wait, chance: Math.random, silenceMs: 3 * limits.heartbeatMs, ...pace },
  })
  return sharedStream ? { ...wire, shared: createSharedStream(wire) } : wire
}

/** Creates the sessions of a server on a connection. */
export function createRemoteSessions(wire: Http): RemoteSessions {
  const inOrder = createKeyedQueue() // also of a session that was opened twice
  return {
    /** Not retried: the server may have started it before the connection failed. */
    async start(given) {
      const options = parseStartOptions(given)
      if (!options.ok) return options
      const answer = await wire.json('/v1/sessions', { body: options.value })
      const meta = parseAnswer(answer, 'a start', Meta, 'session')
      return meta.ok ? ok(createRemoteSessionHandle(wire, meta.value.id, inOrder)) : meta
    },

    async open(name) {
      const form = parseSessionName(name)
      if (!form.ok) return form
      const state = await readState(wire, name, ['meta'])
      return state.ok ? ok(createRemoteSessionHandle(wire, state.value.meta.id, inOrder)) : state
    },

    async findByKey(given) {
      const key = parseKey(given)
      return key.ok ? findSession(wire, inOrder, `/v1/find${queryOf({ key: key.value })}`) : key
    },

    async latest(given) {
      const workspace = given === undefined ? ok(given) : parseFolder(given)
      return workspace.ok
        ? findSession(wire, inOrder, `/v1/latest${queryOf({ workspace: workspace.value })}`)
        : workspace
    },

    async stop(name) {
      const form = parseSessionName(name)
      if (!form.ok) return form
      const answer = await wire.json(`/v1/sessions/${encodeURIComponent(name)}/stop`, { method: 'POST' })
      return answer.ok ? ok(null) : answer
    },

    async list(given = {}) {
      const asked = parseOptions(ListOptions, given, 'list')
      if (!asked.ok) return asked
      const { trashed, ...options } = asked.value
      const answer = await wire.json(`${trashed ? '/v1/trash' : '/v1/sessions'}${queryOf(options)}`)
      return parseAnswer(answer, 'a list', SessionList)
    },

    async search(given) {
      const asked = parseOptions(SearchOptions, given, 'search')
      if (!asked.ok) return asked
      const { text, ...options } = asked.value
      const answer = await wire.json(`/v1/search${queryOf({ q: text, ...options })}`)
      return parseAnswer(answer, 'a search', FoundMessages)
    },

    ...createRemoteRemovals(wire),

    models: () => readModels(wire),

    /** Safe to retry. */
    refreshCredentials: () => readModels(wire, '/v1/credentials/refresh', { method: 'POST' }),

    subscribe: (options) => followNews(wire, options),
    async pause({ keepNews = false } = {}) {
      wire.gate.pause()
      await wire.shared?.pause(keepNews)
    },
    resume() {
      wire.gate.resume()
      wire.shared?.resume()
    },
    leave: () => wire.shared?.leave(),
    reconnect: () => wire.shared?.retry(),

    /** Safe to retry: the same bytes are stored once. */
    async storeFile(bytes, given = {}) {
      const options = parseUpload(bytes, given)
      if (!options.ok) return options
      const answer = await wire.json(`/v1/blobs${queryOf(options.value)}`, { bytes })
      return parseAnswer(answer, 'a file', StoredFile)
    },

    async health() {
      const version = parseAnswer(await wire.json('/v1/health'), 'a health check', text, 'version')
      return version.ok ? ok({ status: 'ok', version: version.value }) : version
    },
  }
}

/** Asks for one session or none. */
async function findSession(
  wire: Http,
  inOrder: CommandOrder,
  path: string,
): Promise<Result<RemoteSessionHandle | null>> {
  const meta = parseAnswer(await wire.json(path), 'a search for a session', Meta.nullable(), 'session')
  return meta.ok ? ok(meta.value && createRemoteSessionHandle(wire, meta.value.id, inOrder)) : meta
}

type Removals = Pick<Sessions, 'delete' | 'purge' | 'clearAll' | 'prune' | 'restore' | 'emptyTrash'>

/** Creates the methods that delete and restore sessions. */
function createRemoteRemovals(wire: Http): Removals {
  const removal = async (path: string, ask: Ask): Promise<Result<Removal>> => {
    const answer = await wire.json(path, ask)
    return parseAnswer(answer, 'a removal', Removal)
  }
  const parse = <Options extends Parameters<typeof parseOptions>[0]>(schema: Options, given: unknown) =>
    parseOptions(schema, given, 'remove sessions')

  return {
    async delete(name, given = {}) {
      const options = parse(DeleteOptions, given)
      if (!options.ok) return options
      const form = parseSessionName(name)
      if (!form.ok) return form
      const { force, dryRun } = options.value
      const query = queryOf({ force: force || undefined, dryRun: dryRun || undefined })
      return removal(`/v1/sessions/${encodeURIComponent(name)}${query}`, { method: 'DELETE' })
    },

    async purge(name, given = {}) {
      const options = parse(DeleteOptions, given)
      if (!options.ok) return options
      const form = parseSessionName(name)
      if (!form.ok) return form
      return removal(`/v1/sessions/${encodeURIComponent(name)}/purge`, { body: options.value })
    },

    async clearAll(given = {}) {
      const options = parse(ClearOptions, given)
      return options.ok ? removal('/v1/clear', { body: options.value }) : options
    },

    async prune(given) {
      const options = parse(PruneOptions, given)
      return options.ok ? removal('/v1/prune', { body: options.value }) : options
    },

    async emptyTrash(given = {}) {
      const options = parse(EmptyTrashOptions, given)
      return options.ok ? removal('/v1/trash/empty', { body: options.value }) : options
    },

    async restore(name) {
      const form = parseSessionName(name)
      if (!form.ok) return form
      const answer = await wire.json(`/v1/sessions/${encodeURIComponent(name)}/restore`, { method: 'POST' })
      return parseAnswer(answer, 'a restore', Meta, 'session')
    },
  }
}

const text = {
  safeParse: (value: unknown) =>
    typeof value === 'string' ? ({ success: true, data: value } as const) : ({ success: false } as const),
}
