import {
  FoundMessages,
  limits,
  Meta,
  ok,
  parseSessionName,
  Removal,
  type Result,
  SessionList,
  type SessionNews,
  type Sessions,
  StoredFile,
} from '@holdfast/protocol'
import { type FollowNewsOptions, followNews } from '../http/follow.ts'
import { type Ask, createHttp, field, type Http, notUnderstood, type Pace, wait } from '../http/http.ts'
import {
  createRemoteSessionHandle,
  type RemoteSessionHandle,
  readModels,
  readSnapshot,
} from './remote-session-handle.ts'

export type ConnectOptions = {
  /** Where the server is, e.g. `http://127.0.0.1:4820`; in its own page `location.origin`. */
  readonly url: string
  /** Without one, the page's cookie speaks for it. */
  readonly token?: string | undefined
  readonly fetch?: typeof fetch | undefined
  /** For tests: how time passes. */
  readonly pace?: Partial<Pace> | undefined
}

export type Health = { readonly status: 'ok'; readonly version: string }

/** The sessions of a server, through the same door as those of this process. */
export interface RemoteSessions extends Sessions {
  start(...args: Parameters<Sessions['start']>): Promise<Result<RemoteSessionHandle>>
  open(name: string): Promise<Result<RemoteSessionHandle>>
  /** Comes back by itself when the connection breaks; what happened meanwhile is in the list. */
  subscribe(options?: FollowNewsOptions): AsyncIterable<SessionNews>
  health(): Promise<Result<Health>>
}

/** Nothing is sent until something is asked. */
export function connectHoldfast({ url, token, fetch, pace }: ConnectOptions): RemoteSessions {
  const wire = createHttp({
    url,
    token,
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)), // a browser's fetch must not lose its `this`
    pace: { wait, chance: Math.random, silenceMs: 3 * limits.heartbeatMs, ...pace },
  })

  return {
    /** Not sent again after a failure: the server may have started it, and nobody could tell. */
    async start(options) {
      const answer = await wire.json('/v1/sessions', { body: options })
      if (!answer.ok) return answer
      const meta = Meta.safeParse(field(answer.value, 'session'))
      return meta.success ? ok(createRemoteSessionHandle(wire, meta.data.id)) : notUnderstood('a start')
    },

    async open(name) {
      const form = parseSessionName(name)
      if (!form.ok) return form
      const snapshot = await readSnapshot(wire, name)
      return snapshot.ok ? ok(createRemoteSessionHandle(wire, snapshot.value.sessionId)) : snapshot
    },

    async list({ trashed, ...options } = {}) {
      const answer = await wire.json(`${trashed ? '/v1/trash' : '/v1/sessions'}${queryOf(options)}`)
      if (!answer.ok) return answer
      const list = SessionList.safeParse(answer.value)
      return list.success ? ok(list.data) : notUnderstood('a list')
    },

    async search({ text, ...options }) {
      const answer = await wire.json(`/v1/search${queryOf({ q: text, ...options })}`)
      if (!answer.ok) return answer
      const found = FoundMessages.safeParse(answer.value)
      return found.success ? ok(found.data) : notUnderstood('a search')
    },

    ...createRemoteRemovals(wire),

    models: () => readModels(wire),

    /** Looking once more costs nothing: whoever calls may send it again after a failure. */
    refreshCredentials: () => readModels(wire, '/v1/credentials/refresh', { method: 'POST' }),

    subscribe: (options) => followNews(wire, options),

    /** Sent once more by whoever calls, after a failure: the same bytes are stored once. */
    async storeFile(bytes, options = {}) {
      const answer = await wire.json(`/v1/blobs${queryOf(options)}`, { bytes })
      if (!answer.ok) return answer
      const stored = StoredFile.safeParse(answer.value)
      return stored.success ? ok(stored.data) : notUnderstood('a file')
    },

    async health() {
      const answer = await wire.json('/v1/health')
      if (!answer.ok) return answer
      const version = field(answer.value, 'version')
      return typeof version === 'string' ? ok({ status: 'ok', version }) : notUnderstood('a health check')
    },
  }
}

function queryOf(options: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(options)) if (value !== undefined) query.set(name, String(value))
  return query.size > 0 ? `?${query}` : ''
}

type Removals = Pick<Sessions, 'delete' | 'clearAll' | 'prune' | 'restore' | 'emptyTrash'>

/** How sessions of a server leave and come back. */
export function createRemoteRemovals(wire: Http): Removals {
  const removal = async (path: string, ask: Ask): Promise<Result<Removal>> => {
    const answer = await wire.json(path, ask)
    if (!answer.ok) return answer
    const read = Removal.safeParse(answer.value)
    return read.success ? ok(read.data) : notUnderstood('a removal')
  }

  return {
    async delete(name, { force, dryRun } = {}) {
      const form = parseSessionName(name)
      if (!form.ok) return form
      const query = new URLSearchParams({ ...(force && { force: 'true' }), ...(dryRun && { dryRun: 'true' }) })
      return removal(`/v1/sessions/${encodeURIComponent(name)}${query.size > 0 ? `?${query}` : ''}`, {
        method: 'DELETE',
      })
    },

    clearAll: (options = {}) => removal('/v1/clear', { body: options }),
    prune: (options) => removal('/v1/prune', { body: options }),
    emptyTrash: (options = {}) => removal('/v1/trash/empty', { body: options }),

    async restore(name) {
      const form = parseSessionName(name)
      if (!form.ok) return form
      const answer = await wire.json(`/v1/sessions/${encodeURIComponent(name)}/restore`, { method: 'POST' })
      if (!answer.ok) return answer
      const meta = Meta.safeParse(field(answer.value, 'session'))
      return meta.success ? ok(meta.data) : notUnderstood('a restoration')
    },
  }
}
