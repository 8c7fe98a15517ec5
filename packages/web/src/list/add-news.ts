import type { Meta, SessionNews } from '@holdfast/protocol'

/**
 * Returns the list after one piece of news, sorted. A session that is not in the list is added only if `isWhole`: the list
 * is not filtered.
 */
export function addNews(listed: readonly Meta[], news: SessionNews, isWhole: boolean): readonly Meta[] {
  if (news.type === 'session.stopped') return listed
  if (news.type === 'session.removed') return without(listed, news.session)
  const { session } = news
  if (session.messageCount === 0) return listed // empty sessions are not listed
  const others = without(listed, session.id)
  if (others === listed && !isWhole) return listed
  return [...others, session].sort(inOrder)
}

function without(listed: readonly Meta[], session: string): readonly Meta[] {
  const others = listed.filter(({ id }) => id !== session)
  return others.length === listed.length ? listed : others
}

/** Whether the list must be loaded again after this. */
export const needsLook = (listed: readonly Meta[], news: SessionNews, isWhole: boolean): boolean =>
  news.type === 'session.stopped' ||
  (news.type !== 'session.removed' && !isWhole && listed.every(({ id }) => id !== news.session.id))

/** Sorts like the server: pinned first, then newest first. */
function inOrder(left: Meta, right: Meta): number {
  if (left.pinned !== right.pinned) return left.pinned ? -1 : 1
  const [before, after] = [`${left.lastMessageAt} ${left.id}`, `${right.lastMessageAt} ${right.id}`]
  return before < after ? 1 : before > after ? -1 : 0
}
