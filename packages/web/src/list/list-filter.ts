import type { Fault, ListOptions, Meta } from '@holdfast/protocol'
import { isBusy } from '../text/format.ts'

/** What the list shows. All conditions must hold. */
export type ListFilter = {
  /** Words in the title, the preview or the recent text. */
  readonly search: string
  readonly workspace: string | null
  readonly model: string | null
  readonly isRunning: boolean
  readonly isWaiting: boolean
}

export const noFilter: ListFilter = { search: '', workspace: null, model: null, isRunning: false, isWaiting: false }

/** Returns the filter as the server takes it. Subagents are listed too: the page puts them under their parents. */
export const listOptionsOf = ({ search, workspace, model, isRunning, isWaiting }: ListFilter): ListOptions => ({
  subagents: true,
  ...(search.trim() !== '' && { search: search.trim() }),
  ...(workspace !== null && { workspace }),
  ...(model !== null && { model }),
  ...(isRunning && { running: true as const }),
  ...(isWaiting && { waiting: true as const }),
})

/** Returns whether a session belongs into the list, by the rules of the server. */
export function isInList(meta: Meta, { search, workspace, model, isRunning, isWaiting }: ListFilter): boolean {
  // Sessions without a message are not listed. One that was rewound to its start has its messages on a branch.
  if (meta.messageCount === 0 && meta.branchCount === 0) return false
  if (workspace !== null && meta.workspace !== workspace) return false
  if (model !== null && meta.model !== model) return false
  if (isRunning && !isBusy(meta.status)) return false
  if (isWaiting && meta.waiting === undefined) return false
  const words = search.toLowerCase().split(/\s+/)
  const text = `${meta.title}\n${meta.preview}\n${meta.recentText}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

/** Returns whether the list is narrowed by more than words. */
export const isNarrowed = ({ workspace, model, isRunning, isWaiting }: ListFilter): boolean =>
  workspace !== null || model !== null || isRunning || isWaiting

type Rows = { readonly sessions: readonly Meta[]; readonly fault: Fault | null }

/** Returns a filtered list. While the server is away and none is loaded, the known sessions that it would have. */
export function withKnownRows<List extends Rows>(
  filtered: List,
  known: Pick<Rows, 'sessions'>,
  filter: ListFilter,
): List {
  if (filtered.fault === null || filtered.sessions.length > 0) return filtered
  return { ...filtered, sessions: known.sessions.filter((meta) => isInList(meta, filter)) }
}
