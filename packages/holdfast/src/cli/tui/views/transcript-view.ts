import type { LiveView } from '@holdfast/client'
import type { Message } from '@holdfast/protocol'
import type { CodeColours } from '../render/code.ts'
import { messageRows } from '../render/message.ts'
import type { StyledLine } from '../term/lines.ts'
import { span, styles } from '../term/lines.ts'
import { type FullView, frameTop, isKey, type ViewHost } from './full-view.ts'
import { createTextView } from './text-view.ts'

type TranscriptDeps = {
  readonly live: Pick<LiveView, 'messages' | 'hasOlder' | 'loadOlder' | 'view'>
  readonly colours: CodeColours
  readonly host: ViewHost
  /** Pins a message in the model's context, or no longer. */
  readonly onPin: (message: Message) => void
}

/** A message with its rows, and where they begin. */
type Placed = { readonly message: Message; readonly start: number; readonly rows: readonly StyledLine[] }

/** Shows the whole transcript. Tool calls and thinking open and fold; older messages are loaded at the top. */
export function createTranscriptView({ live, colours, host, onPin }: TranscriptDeps): FullView {
  const opened = new Set<number>()
  const known = new WeakMap<Message, { readonly key: string; readonly rows: readonly StyledLine[] }>()
  let isAllOpen = false
  let chosen: number | null = null
  let placed: readonly Placed[] = []
  let count = 0
  let isLoading = false

  const isOpen = ({ id }: Message) => isAllOpen !== opened.has(id)
  const rowsOf = (message: Message, width: number): readonly StyledLine[] => {
    const key = `${width} ${isOpen(message)} ${chosen === message.id} ${message.pinned}`
    const before = known.get(message)
    if (before?.key === key) return before.rows
    const edge = chosen === message.id ? span('▎', styles.accent) : span(' ')
    const pin = message.pinned ? [span('★ pinned', styles.warn)] : []
    const rows = messageRows(message, { width: width - 1, colours, isOpen: isOpen(message) }).map(
      (row, index): StyledLine => (index === 0 ? [...pin] : [edge, ...row]),
    )
    known.set(message, { key, rows })
    return rows
  }

  function layOut(width: number): readonly StyledLine[] {
    let start = 0
    placed = live.messages.flatMap((message) => {
      const rows = rowsOf(message, width)
      if (rows.length === 0) return []
      const one = { message, start, rows }
      start += rows.length
      return [one]
    })
    count = start
    return placed.flatMap(({ rows }) => rows)
  }

  async function loadOlder(): Promise<void> {
    if (isLoading || !live.hasOlder) return
    isLoading = true
    const before = count
    await live.loadOlder()
    isLoading = false
    const { columns } = lastSize
    layOut(columns)
    view.shift(count - before)
    host.redraw()
  }

  function choose(by: 1 | -1): void {
    const at = placed.findIndex(({ message }) => message.id === chosen)
    const next = placed[at === -1 ? placed.length - 1 : Math.max(0, Math.min(placed.length - 1, at + by))]
    if (!next) return
    chosen = next.message.id
    view.show(next.start + Math.min(next.rows.length, 3))
    view.show(next.start)
    if (at === 0 && by === -1) void loadOlder()
  }

  const toggle = ({ id }: Message) => {
    if (!opened.delete(id)) opened.add(id)
  }

  /** A click opens or folds a message. */
  function clickAt(row: number): boolean {
    const clicked = placed.findLast(({ start }) => start <= row)
    if (!clicked || row >= clicked.start + clicked.rows.length) return true
    chosen = clicked.message.id
    toggle(clicked.message)
    host.redraw()
    return true
  }

  let lastSize = { columns: 80, rows: 24 }
  const view = createTextView(
    {
      title: () => `Transcript${live.hasOlder ? ', scroll up for more' : ''}`,
      rows: layOut,
      startsAtEnd: true,
      hints: '↑↓ scroll   Tab next, Shift+Tab previous   Enter opens or folds   e all   p pin   q back',
      onTop: () => void loadOlder(),
      onKey(event, top) {
        if (event.type === 'mouse') return clickAt(top + event.row - frameTop)
        const message = placed.find((one) => one.message.id === chosen)?.message
        if (isKey(event, 'tab', 'n')) choose(1)
        else if (isKey(event, 'shift+tab', 'N')) choose(-1)
        else if (isKey(event, 'e')) {
          isAllOpen = !isAllOpen
          opened.clear()
        } else if (isKey(event, 'enter') && message) toggle(message)
        else if (isKey(event, 'p') && message) onPin(message)
        else return false
        host.redraw()
        return true
      },
    },
    host,
  )
  return {
    draw(size) {
      lastSize = size
      return view.draw(size)
    },
    key: view.key,
  }
}
