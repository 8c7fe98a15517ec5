import type { Meta, SessionNews } from '@holdfast/protocol'

/**
 * The list after one piece of news: where a session stands now, and in its place. One that is not in the list is put there
 * only if `isWhole`, that is if nothing but its page's length keeps sessions out of it.
 */
export function addNews(listed: readonly Meta[], news: SessionNews, isWhole: boolean): readonly Meta[] {
  if (news.type === 'session.stopped') return listed
  if (news.type === 'session.removed') return without(listed, news.session)
  const { session } = news
  if (session.messageCount === 0) return listed // nobody has spoken in it yet
  const others = without(listed, session.id)
  if (others === listed && !isWhole) return listed
  return [...others, session].sort(inOrder)
}

function without(listed: readonly Meta[], session: string): readonly Meta[] {
  const others = listed.filter(({ id }) => id !== session)
  return others.length === listed.length ? listed : others
}

/** Whether only the server can say what the list is after this. */
export const needsLook = (listed: readonly Meta[], news: SessionNews, isWhole: boolean): boolean =>
  news.type === 'session.stopped' ||
  (news.type !== 'session.removed' && !isWhole && listed.every(({ id }) => id !== news.session.id))

/** The order in which the server lists them: what is pinned, then what is newest. */
function inOrder(left: Meta, right: Meta): number {
  if (left.pinned !== right.pinned) return left.pinned ? -1 : 1
  const [before, after] = [`${left.lastMessageAt} ${left.id}`, `${right.lastMessageAt} ${right.id}`]
  return before < after ? 1 : before > after ? -1 : 0
}
