import type { Meta, SessionNews } from '@holdfast/protocol'

/**
 * The list after one piece of news: where a session stands now, and in its place. One that is not in the list is put there
 * only if `isWhole`, that is if nothing but its page's length keeps sessions out of it.
 */
export function addNews(listed: readonly Meta[], news: SessionNews, isWhole: boolean): readonly Meta[] {
  if (news.type === 'session.stopped') return listed
  const { session } = news
  if (session.messageCount === 0) return listed // nobody has spoken in it yet
  const others = listed.filter(({ id }) => id !== session.id)
  if (others.length === listed.length && !isWhole) return listed
  return [...others, session].sort(newestFirst)
}

/** Whether only the server can say what the list is after this. */
export const needsLook = (listed: readonly Meta[], news: SessionNews, isWhole: boolean): boolean =>
  news.type === 'session.stopped' || (!isWhole && listed.every(({ id }) => id !== news.session.id))

/** The order in which the server lists them. */
function newestFirst(left: Meta, right: Meta): number {
  const [before, after] = [`${left.lastMessageAt} ${left.id}`, `${right.lastMessageAt} ${right.id}`]
  return before < after ? 1 : before > after ? -1 : 0
}
