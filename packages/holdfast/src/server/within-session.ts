import type { LocalSession, LocalSessions } from '@holdfast/core'
import {
  type ListOptions,
  limits,
  type Meta,
  newsSession,
  ok,
  type Result,
  refuse,
  SessionId,
  type SessionNews,
  sessionNotFound,
} from '@holdfast/protocol'
import type { ServerDeps } from './define/server-deps.ts'

/** Returns the sessions and exports that a token for one session reaches: that session, and those started for it. */
export function withinSession(
  { sessions, transfer }: Pick<ServerDeps, 'sessions' | 'transfer'>,
  bound: SessionId,
): Pick<ServerDeps, 'sessions' | 'transfer'> {
  const scope = createScope(sessions, bound)
  const open: LocalSessions['open'] = async (name) => {
    const id = await scope.resolve(name)
    return id === null ? refuse(sessionNotFound(name)) : sessions.open(id)
  }
  const keepOne = async (found: Result<LocalSession | null>): Promise<Result<LocalSession | null>> =>
    found.ok && found.value && (await scope.has(found.value.id)) ? found : ok(null)

  return {
    sessions: {
      ...sessions,
      open,
      findByKey: async (key) => keepOne(await sessions.findByKey(key)),
      async latest(workspace) {
        const [meta] = await scope.metas()
        const isThere = meta !== undefined && (workspace === undefined || meta.workspace === workspace)
        return isThere ? sessions.open(meta.id) : ok(null)
      },
      list: async (options = {}) => ok(pageOf(await scope.metas(), options)),
      async search({ session = bound, ...options }) {
        return (await scope.has(SessionId.parse(session)))
          ? sessions.search({ ...options, session })
          : ok({ hits: [], next: null })
      },
      async *subscribe(options) {
        for await (const news of sessions.subscribe(options)) if (await scope.includes(news)) yield news
      },
    },
    transfer: {
      ...transfer,
      async export(name, options) {
        const id = await scope.resolve(name)
        return id === null ? refuse(sessionNotFound(name)) : transfer.export(id, options)
      },
    },
  }
}

/** The session of a token and the sessions that were started for it, directly or indirectly. Forks are others. */
function createScope(sessions: LocalSessions, bound: SessionId) {
  /** Sessions that were seen in the scope; a session never leaves it. */
  const seen = new Set<SessionId>([bound])

  const childrenOf = async (parent: SessionId): Promise<readonly Meta[]> => {
    const children = await sessions.list({ startedFor: parent, limit: limits.listSessionsMax })
    return children.ok ? children.value.sessions : []
  }
  /** Returns the children, with their children; at most as many as a list may have. */
  const descendants = async (): Promise<readonly Meta[]> => {
    const all = new Map<SessionId, Meta>()
    for (const waiting: SessionId[] = [bound]; waiting.length > 0 && all.size < limits.listSessionsMax; ) {
      for (const child of await childrenOf(waiting.shift() ?? bound)) {
        if (all.has(child.id) || child.id === bound) continue
        all.set(child.id, child)
        seen.add(child.id)
        waiting.push(child.id)
      }
    }
    return [...all.values()]
  }
  const has = async (id: SessionId): Promise<boolean> => {
    if (!seen.has(id)) await descendants()
    return seen.has(id)
  }

  return {
    has,

    /** Returns the session that a name means here; null for every other one, whether it exists or not. */
    async resolve(name: string): Promise<SessionId | null> {
      if (name === bound) return bound
      await descendants()
      const byPrefix = [...seen].filter((id) => id.startsWith(name))
      if (byPrefix.length === 1) return byPrefix[0] ?? null
      const opened = await sessions.open(name)
      return opened.ok && seen.has(opened.value.id) ? opened.value.id : null
    },

    /** Returns the rows of the scope, that of the token first. */
    async metas(): Promise<readonly Meta[]> {
      const opened = await sessions.open(bound)
      const state = opened.ok ? await opened.value.state(['meta']) : opened
      return [...(state.ok ? [state.value.meta] : []), ...(await descendants())]
    },

    /** Returns whether news is about a session of the scope. */
    async includes(news: SessionNews): Promise<boolean> {
      const id = newsSession(news)
      if (seen.has(id)) return true
      const parent = typeof news.session === 'string' ? undefined : news.session.parent
      return parent !== undefined && seen.has(parent) && has(id)
    },
  }
}

const listDefault = 50

/** Returns a page of rows. The cursor is the number of rows before it. */
function pageOf(metas: readonly Meta[], options: ListOptions) {
  const {
    workspace,
    search,
    model,
    pinned,
    startedFor,
    running,
    activeFrom,
    activeBefore,
    limit = listDefault,
    cursor,
  } = options
  const words = (search ?? '').toLowerCase().split(/\s+/)
  const textOf = ({ title, preview, recentText }: Meta) => `${title}\n${preview}\n${recentText}`.toLowerCase()
  const found = metas.filter(
    (meta) =>
      words.every((word) => textOf(meta).includes(word)) &&
      (model === undefined || meta.model === model) &&
      (workspace === undefined || meta.workspace === workspace) &&
      (pinned === undefined || meta.pinned === pinned) &&
      (startedFor === undefined || meta.parent === startedFor) &&
      (running === undefined || meta.status === 'thinking' || meta.status === 'tool_executing') &&
      (activeFrom === undefined || Date.parse(meta.lastMessageAt) >= Date.parse(activeFrom)) &&
      (activeBefore === undefined || Date.parse(meta.lastMessageAt) < Date.parse(activeBefore)),
  )
  const from = /^\d{1,6}$/.test(cursor ?? '') ? Number(cursor) : 0
  const next = from + limit
  return { sessions: found.slice(from, next), next: next < found.length ? String(next) : null }
}
