import type { FoundMessages, Meta } from '@holdfast/protocol'
import { baseName } from '../text/format.ts'
import { groupSessions, type InTree, type SessionGroup } from './session-tree.ts'

export type Grouping = 'date' | 'workspace'

export type FoundMessage = FoundMessages['hits'][number]

/** A row of the list. `key` is the same while it is drawn, wherever it stands. */
export type ListRow =
  | {
      readonly kind: 'heading'
      readonly key: string
      readonly text: string
      readonly about?: string
      readonly count?: number
    }
  | { readonly kind: 'session'; readonly key: string; readonly meta: Meta; readonly isWaiting: boolean }
  | { readonly kind: 'subagents'; readonly key: string; readonly group: SessionGroup; readonly isOpen: boolean }
  | { readonly kind: 'subagent'; readonly key: string; readonly top: string; readonly one: InTree<Meta> }
  | { readonly kind: 'found'; readonly key: string; readonly hit: FoundMessage }
  | { readonly kind: 'more'; readonly key: string; readonly count: number }
  | { readonly kind: 'note'; readonly key: string; readonly text: string }

type RowsOptions = {
  readonly grouping: Grouping
  readonly nowMs: number
  /** The sessions whose subagents are shown. */
  readonly opened: ReadonlySet<string>
  /** The sessions that wait, whether they are loaded or not. They come first. */
  readonly waiting: readonly Meta[]
}

/** Returns the rows: sessions that wait, pinned ones, then the others by date or by workspace. */
export function rowsOf(sessions: readonly Meta[], options: RowsOptions): readonly ListRow[] {
  const { grouping, nowMs, opened, waiting } = options
  const loaded = new Set(sessions.map(({ id }) => id))
  const groups = groupSessions([...waiting.filter(({ id }) => !loaded.has(id)), ...sessions])
  const first = new Set(waiting.map(({ id }) => id))
  const isFirst = ({ meta, below }: SessionGroup) => first.has(meta.id) || below.some(({ node }) => first.has(node.id))
  const sections = new Map<
    string,
    { readonly text: string; readonly about?: string; readonly groups: SessionGroup[] }
  >()
  const add = (key: string, group: SessionGroup, text: string, about?: string) => {
    const section = sections.get(key) ?? { text, ...(about !== undefined && { about }), groups: [] }
    section.groups.push(group)
    sections.set(key, section)
  }
  const [asked, rest] = [groups.filter(isFirst), groups.filter((group) => !isFirst(group))]
  for (const group of asked) add('waiting', group, 'Waiting for you')
  for (const group of rest.filter(({ meta }) => meta.pinned)) add('pinned', group, 'Pinned')
  for (const group of rest.filter(({ meta }) => !meta.pinned)) {
    if (grouping === 'date') {
      const text = dayText(group.meta.lastMessageAt, nowMs)
      add(text, group, text)
    } else add(`in ${group.meta.workspace}`, group, baseName(group.meta.workspace) || 'No folder', group.meta.workspace)
  }
  return [...sections].flatMap(([key, { text, about, groups }]): readonly ListRow[] => [
    {
      kind: 'heading',
      key: `heading ${key}`,
      text,
      ...(about !== undefined && { about }),
      ...(key === 'waiting' && { count: groups.length }),
    },
    ...groups.flatMap((group) => rowsOfGroup(group, opened)),
  ])
}

/** Returns the rows of a search: the best sessions, then the messages. */
export function foundRows(
  sessions: readonly Meta[],
  hits: readonly FoundMessage[] | null,
  { isWhole, isIndexing }: { readonly isWhole: boolean; readonly isIndexing: boolean },
): readonly ListRow[] {
  const shown = isWhole ? sessions : sessions.slice(0, sessionsFirst)
  const hidden = sessions.length - shown.length
  return [
    ...(shown.length > 0 ? [heading('Sessions')] : []),
    ...shown.map((meta): ListRow => ({ kind: 'session', key: meta.id, meta, isWaiting: meta.waiting !== undefined })),
    ...(hidden > 0 ? [{ kind: 'more', key: 'more', count: hidden } as const] : []),
    ...(hits !== null && hits.length > 0 ? [heading('Messages')] : []),
    ...(hits ?? []).map((hit): ListRow => ({ kind: 'found', key: `${hit.sessionId} ${hit.messageId}`, hit })),
    ...(isIndexing
      ? [{ kind: 'note', key: 'indexing', text: 'Some messages are not indexed yet. Search again later.' } as const]
      : []),
  ]
}

/** So many sessions stand before the messages, until a person asks for all. */
const sessionsFirst = 5

const heading = (text: string): ListRow => ({ kind: 'heading', key: `heading ${text}`, text })

function rowsOfGroup(group: SessionGroup, opened: ReadonlySet<string>): readonly ListRow[] {
  const { meta, below } = group
  const isWaiting = [meta, ...below.map(({ node }) => node)].some(({ waiting }) => waiting !== undefined)
  const row: ListRow = { kind: 'session', key: meta.id, meta, isWaiting }
  if (below.length === 0) return [row]
  const isOpen = opened.has(meta.id)
  const open = isOpen ? below : []
  return [
    row,
    { kind: 'subagents', key: `${meta.id} subagents`, group, isOpen },
    ...open.map((one): ListRow => ({ kind: 'subagent', key: `${meta.id} ${one.node.id}`, top: meta.id, one })),
  ]
}

const month = new Intl.DateTimeFormat('en', { month: 'long' })
const monthAndYear = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric' })

/** Returns the group of a day, in the time zone of the browser: Today, Yesterday, the last days, then its month. */
export function dayText(at: string, nowMs: number): string {
  const [then, now] = [new Date(at), new Date(nowMs)]
  const days = Math.round((midnight(now) - midnight(then)) / 86_400_000)
  if (days <= 0) return 'Today'
  if (days === 1) return 'Yesterday'
  if (days < 7) return 'Last 7 days'
  if (days < 30) return 'Last 30 days'
  return (then.getFullYear() === now.getFullYear() ? month : monthAndYear).format(then)
}

const midnight = (time: Date): number => new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime()
