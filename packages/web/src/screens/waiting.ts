import type { Meta, SessionNews } from '@holdfast/protocol'

/** The sessions that wait for a person, by id. */
export type Waiting = ReadonlyMap<string, Meta>

/** Returns the waiting ones of these sessions. */
export const waitingOf = (sessions: readonly Meta[]): Waiting =>
  new Map(sessions.flatMap((one) => (one.waiting === undefined ? [] : [[one.id, one] as const])))

/** Returns the waiting sessions after one piece of news; the same map if nothing changed. */
export function addToWaiting(waiting: Waiting, news: SessionNews): Waiting {
  if (news.type === 'session.stopped') return waiting
  const meta = typeof news.session === 'string' ? null : news.session
  const id = typeof news.session === 'string' ? news.session : news.session.id
  if (meta === null || meta.waiting === undefined) {
    if (!waiting.has(id)) return waiting
    const next = new Map(waiting)
    next.delete(id)
    return next
  }
  const known = waiting.get(id)
  const isSame = known?.title === meta.title && known.waiting === meta.waiting && known.pinned === meta.pinned
  return isSame ? waiting : new Map(waiting).set(id, meta)
}

/** Returns the sessions that wait, without subagents whose parents wait with them. */
export const topWaiting = (waiting: Waiting): readonly Meta[] =>
  [...waiting.values()].filter(({ subagent, parent }) => !subagent || parent === undefined || !waiting.has(parent))

/** Returns those that began to wait. */
export const newlyWaiting = (before: Waiting, now: Waiting): readonly Meta[] =>
  topWaiting(now).filter(({ id }) => !before.has(id))

/** Returns the title of a tab: how many sessions wait, whether this one does, and what it shows. */
export const tabTitle = (waiting: number, isAsked: boolean, title: string | null): string =>
  `${waiting > 0 ? `(${waiting}) ` : ''}${isAsked ? '◆ ' : ''}${title === null ? '' : `${title} · `}Holdfast`
