import type { Message, Meta, Sessions } from '@holdfast/protocol'
import { counted, formatAge } from '../../render/tables.ts'
import { oneLineText } from '../render/format.ts'
import {
  cutLine,
  justify,
  line,
  lineWidth,
  type StyledLine,
  shownLine,
  shownText,
  span,
  styles,
} from '../term/lines.ts'
import { wrapText } from '../term/wrap.ts'
import type { FullView, ViewHost } from './full-view.ts'
import { createListView } from './list-view.ts'

type SessionsDeps = {
  readonly sessions: Sessions
  /** The folder whose sessions come first. */
  readonly workspace: string | null
  readonly now: () => number
  readonly onChoose: (id: string) => void
  readonly host: ViewHost
  /** What to search for at the start. */
  readonly search?: string
  /** What Esc does, in a word or two. */
  readonly leaving?: string
}

/** A row of the list: a session, with the place in it that a search found. */
type Row = { readonly meta: Meta; readonly snippet: string | null }

const listed = 200
const hitsMax = 50
const searchAfterMs = 80

/** Lists the sessions of the folder, or of all folders. Typing searches titles and the text of all messages. */
export function createSessionsView(deps: SessionsDeps): FullView {
  const { sessions, workspace, now, onChoose, host, search = '', leaving = 'back' } = deps
  let rows: readonly Row[] = []
  let isEverywhere = workspace === null
  let text = search
  let state = 'Loading…'
  let timer: NodeJS.Timeout | undefined
  const previews = new Map<string, readonly Message[] | null>()

  async function load(): Promise<void> {
    const wanted = text
    const scope = isEverywhere || workspace === null ? {} : { workspace }
    const found = wanted.trim() === '' ? await listNewest(scope) : await searchBoth(scope, wanted.trim())
    if (wanted !== text) return // the person typed on
    rows = found ?? []
    state =
      found === null
        ? 'The sessions cannot be read.'
        : wanted === ''
          ? 'There are no sessions here. Tab lists all folders.'
          : 'Nothing found. Tab searches all folders.'
    host.redraw()
  }

  async function listNewest(scope: { readonly workspace?: string }): Promise<readonly Row[] | null> {
    const list = await sessions.list({ ...scope, limit: listed })
    return list.ok ? list.value.sessions.map((meta) => ({ meta, snippet: null })) : null
  }

  /** Sessions whose title matches come first, then those with a message that does. */
  async function searchBoth(scope: { readonly workspace?: string }, wanted: string): Promise<readonly Row[] | null> {
    const query = wanted.includes('"') || wanted.endsWith('*') ? wanted : `${wanted}*`
    const [list, hits] = await Promise.all([
      sessions.list({ ...scope, search: wanted, limit: listed }),
      sessions.search({ ...scope, text: query, limit: hitsMax }),
    ])
    if (!list.ok) return null
    const byTitle = list.value.sessions.map((meta): Row => ({ meta, snippet: null }))
    const known = new Set<string>(byTitle.map(({ meta }) => meta.id))
    const byText: Row[] = []
    for (const { sessionId, snippet } of hits.ok ? hits.value.hits : []) {
      if (known.has(sessionId)) continue
      known.add(sessionId)
      const meta = await readMeta(sessionId)
      if (meta) byText.push({ meta, snippet })
    }
    return [...byTitle, ...byText]
  }

  async function readMeta(id: string): Promise<Meta | null> {
    const handle = await sessions.open(id)
    const found = handle.ok ? await handle.value.state(['meta']) : null
    return found?.ok ? found.value.meta : null
  }

  async function loadPreview(id: string): Promise<void> {
    if (previews.has(id)) return
    previews.set(id, null)
    const handle = await sessions.open(id)
    const page = handle.ok ? await handle.value.page({ limit: 30 }) : null
    previews.set(id, page?.ok ? page.value.messages : [])
    host.redraw()
  }

  void load()
  return createListView<Row>(
    {
      title: () =>
        isEverywhere || workspace === null ? 'Sessions of all folders' : `Sessions of ${shownLine(workspace)}`,
      items: () => rows,
      row: ({ meta, snippet }, width) => sessionRow(meta, snippet, width, now()),
      textOf: ({ meta }) => meta.title,
      preview: ({ meta }, width) => {
        void loadPreview(meta.id)
        return previewRows(meta, previews.get(meta.id) ?? null, width)
      },
      onChoose: ({ meta }) => onChoose(meta.id),
      filter: search,
      onFilter(typed) {
        text = typed
        clearTimeout(timer)
        timer = setTimeout(() => void load(), searchAfterMs)
      },
      onKey(event) {
        if (event.type !== 'key' || event.name !== 'tab') return false
        isEverywhere = !isEverywhere
        void load()
        return true
      },
      get empty() {
        return state
      },
      hints: `↑↓ choose   Enter opens   Tab all folders   type to search all text   Esc ${leaving}`,
    },
    host,
  )
}

function sessionRow(
  { title, handle, pinned, status, waiting, lastMessageAt, messageCount }: Meta,
  snippet: string | null,
  width: number,
  now: number,
): StyledLine {
  const state =
    waiting === undefined ? (status === 'idle' || status === 'plan' ? '' : status.replace('_', ' ')) : 'waits for you'
  const age = formatAge(now - Date.parse(lastMessageAt))
  const right: StyledLine = [
    span(state === '' ? '' : `${state}  `, styles.warn),
    span(`${messageCount}  ${age.padStart(4)}`, styles.dim),
  ]
  const name = snippet === null ? shownLine(title) || handle : `${shownLine(title)} `
  const left: StyledLine = [
    span(pinned ? '★ ' : '', styles.warn),
    span(name),
    span(snippet === null ? '' : oneLineText(snippet), styles.dim),
  ]
  return justify(cutLine(left, Math.max(4, width - lineWidth(right) - 2)), right, width)
}

function previewRows(meta: Meta, messages: readonly Message[] | null, width: number): readonly StyledLine[] {
  const about = `${meta.handle} · ${shownLine(meta.model)} · ${counted(meta.turnCount, 'turn')}`
  const head: readonly StyledLine[] = [
    line(about, styles.dim),
    line(shownLine(meta.workspace) || 'no folder', styles.dim),
    [],
  ]
  if (messages === null) return head
  const said = messages.filter(({ kind }) => kind === 'user' || kind === 'assistant').slice(-8)
  return [
    ...head,
    ...said.flatMap((message) => {
      if (message.kind !== 'user' && message.kind !== 'assistant') return []
      const text = shownText(message.text.slice(0, 600)).split('\n').slice(0, 6).join('\n')
      return [
        ...wrapText(
          `${message.kind === 'user' ? '❯ ' : ''}${text}`,
          width,
          message.kind === 'user' ? styles.bold : '',
        ).slice(0, 8),
        [],
      ]
    }),
  ]
}
