import { createSession, type Session } from '@holdfast/client'
import { createLocalHandle, createLocalSessions, findByKey, type Roster } from '@holdfast/core'
import {
  type Answer,
  type ListOptions,
  type Meta,
  orThrow,
  type SessionId,
  type SessionList,
  type SessionNews,
  type Sessions,
  type StartOptions,
} from '@holdfast/protocol'

/** The runtime in this process. Method names are the ones people know; refusals throw `HoldfastError`. */
export interface Holdfast extends AsyncDisposable {
  /** The same sessions as values and results, for whoever stands at a door: server, CLI. */
  readonly sessions: Sessions
  startSession(options: Partial<StartOptions>): Promise<Session>
  /** By id, a unique prefix of it, or handle. */
  getSession(name: string): Promise<Session>
  /** The session with this key, started if there is none. */
  getOrCreate(key: string, options?: Partial<StartOptions>): Promise<Session>
  /** The sessions awake in this process, with their metadata. */
  listSessions(): readonly { readonly session: Session; readonly metadata: Meta }[]
  /** The stored sessions, newest activity first. */
  list(options?: ListOptions): Promise<SessionList>
  sendPrompt(name: string, content: string): Promise<Answer['result']>
  abort(name: string): Promise<Answer['result']>
  stopSession(name: string): Promise<void>
  /** What becomes of all sessions of this process from now on: started, changed, stopped and why. */
  subscribe(options?: { readonly signal?: AbortSignal }): AsyncIterable<SessionNews>
  close(): Promise<void>
}

/** The methods of a runtime that is already put together; `close` takes it apart. */
export function createHoldfast(roster: Roster, close: () => Promise<void>): Holdfast {
  const { store } = roster.parts
  const sessions = createLocalSessions(roster)
  const sessionOf = (id: SessionId) => createSession(createLocalHandle(roster, id))
  const getSession = async (name: string) => createSession(orThrow(await sessions.open(name)))

  return {
    sessions,
    getSession,
    startSession: async (given) => createSession(orThrow(await sessions.start({ workdir: '.', ...given }))),
    async getOrCreate(key, given = {}) {
      const known = orThrow(await findByKey(store, key))
      if (known) return sessionOf(known)
      const started = await sessions.start({ workdir: '.', ...given, key })
      // Someone else may have started it meanwhile: then theirs is the one.
      const theirs = !started.ok && started.fault.code === 'key_taken' ? orThrow(await findByKey(store, key)) : null
      return theirs ? sessionOf(theirs) : createSession(orThrow(started))
    },
    listSessions: () =>
      roster.all().map(({ id, folded }) => ({ session: sessionOf(id), metadata: folded().row.entry.meta })),
    list: async (asked) => orThrow(await sessions.list(asked)),
    sendPrompt: async (name, content) => (await getSession(name)).sendPrompt(content),
    abort: async (name) => (await getSession(name)).abort(),
    stopSession: async (name) => roster.unload((await getSession(name)).id),
    subscribe: ({ signal } = {}) => roster.news.follow(signal),
    close,
    [Symbol.asyncDispose]: close,
  }
}
