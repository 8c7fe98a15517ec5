import type { ListRequest } from '@holdfast/core/ports'
import type { Meta } from '@holdfast/protocol'

/** Whether a list leaves out subagents: they are listed under the session that started them. */
export const hidesSubagents = ({ startedFor, trashed, subagents }: ListRequest): boolean =>
  startedFor === undefined && trashed !== true && subagents !== true

/** Returns a test of a session's metadata, or null if the request does not depend on it. */
export function createMetaMatch({
  model,
  search,
  waiting,
}: Pick<ListRequest, 'model' | 'search' | 'waiting'>): ((meta: Meta) => boolean) | null {
  if (model === undefined && search === undefined && waiting === undefined) return null
  const words = (search ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return (meta) => {
    if (model !== undefined && meta.model !== model) return false
    if (waiting && meta.waiting === undefined) return false
    const text = `${meta.title}\n${meta.preview}\n${meta.recentText}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
}
