import type { KeyEvent } from '../term/decode-keys.ts'
import { cutLine, emptyLine, line, lineWidth, type StyledLine, span, styles } from '../term/lines.ts'
import type { TerminalSize } from '../term/terminal.ts'
import { type FullView, framed, isKey, type ViewHost, wheelRows } from './full-view.ts'

type ListViewOptions<Item> = {
  readonly title: () => string
  readonly items: () => readonly Item[]
  readonly row: (item: Item, width: number) => StyledLine
  /** The text that the filter looks at. */
  readonly textOf: (item: Item) => string
  readonly onChoose: (item: Item) => void
  /** Rows beside or below the list about the chosen item. */
  readonly preview?: (item: Item, width: number) => readonly StyledLine[]
  /** Replaces the filter by a search of its own. */
  readonly onFilter?: (text: string) => void
  /** Called when another item is chosen. */
  readonly onMove?: (item: Item) => void
  /** Further keys on the chosen item. Returns whether it was one. */
  readonly onKey?: (event: KeyEvent, item: Item) => boolean
  /** Called when a draw shows the end of the list, which may have more items that are not loaded yet. */
  readonly onEnd?: () => void
  readonly hints?: string
  /** What is said if there are no items. */
  readonly empty?: string
  /** The item that is chosen first. */
  readonly startAt?: number
  /** What the filter has at the start. */
  readonly filter?: string
}

/** The rows above the list: title, gap, search, gap. */
const listTop = 4

/** Creates a list to choose from. Typing filters it. */
export function createListView<Item>(options: ListViewOptions<Item>, host: ViewHost): FullView {
  const { title, items, row, textOf, onChoose, preview, onFilter, onKey, startAt = 0 } = options
  let filter = options.filter ?? ''
  let chosen = startAt
  let first = 0
  /** Where the list is on the screen, for the mouse. */
  let shown = { rows: 0, columns: 0 }
  const found = (): readonly Item[] => {
    const words = onFilter
      ? []
      : filter
          .toLowerCase()
          .split(/\s+/)
          .filter((word) => word !== '')
    return words.length === 0
      ? items()
      : items().filter((item) => words.every((word) => textOf(item).toLowerCase().includes(word)))
  }
  const choose = (index: number) => {
    const all = found()
    chosen = Math.max(0, Math.min(index, all.length - 1))
    const item = all[chosen]
    if (item !== undefined) options.onMove?.(item)
  }
  const setFilter = (text: string) => {
    filter = text
    onFilter?.(text)
    first = 0
    choose(0)
  }

  function draw(size: TerminalSize) {
    const all = found()
    chosen = Math.max(0, Math.min(chosen, all.length - 1))
    const item = all[chosen]
    const room = Math.max(1, size.rows - 5)
    const isBeside = preview !== undefined && size.columns >= 100
    const listWidth = isBeside ? Math.floor(size.columns / 2) : size.columns
    const below = preview && !isBeside ? Math.min(8, Math.max(Math.floor(room / 3), room - all.length - 2)) : 0
    const listRoom = Math.max(1, room - (below > 0 ? below + 1 : 0))
    first = Math.min(first, chosen, Math.max(0, all.length - listRoom))
    if (chosen >= first + listRoom) first = chosen - listRoom + 1
    shown = { rows: Math.min(listRoom, all.length - first), columns: listWidth }
    const list = all
      .slice(first, first + listRoom)
      .map((one, index) => listRow(row(one, listWidth - 3), first + index === chosen, listWidth))
    if (first + listRoom >= all.length) options.onEnd?.()
    const none = filter === '' || onFilter ? options.empty : undefined
    if (all.length === 0) list.push(line(`  ${none ?? 'Nothing matches.'}`, styles.dim))
    const about =
      item !== undefined && preview ? preview(item, isBeside ? size.columns - listWidth - 2 : size.columns - 2) : []
    const body = isBeside
      ? beside(list, about, listWidth, room)
      : [
          ...padded(list, below > 0 ? listRoom : 0),
          ...(below > 0 ? [emptyLine, ...about.slice(0, below).map((one): StyledLine => [span('  '), ...one])] : []),
        ]
    const search: StyledLine = [span(' / ', styles.accent), span(filter)]
    const hints = options.hints ?? '↑↓ choose   Enter opens   type to filter   Esc back'
    const rows = framed(size, title(), [cutLine(search, size.columns), emptyLine, ...body], hints)
    return { rows, cursor: { row: 2, column: Math.min(size.columns - 1, lineWidth(search)) } }
  }

  /** A click chooses a row; a click on the chosen row is Enter. */
  function click(row: number, column: number): void {
    const at = row - listTop
    if (at < 0 || at >= shown.rows || column >= shown.columns) return
    const item = found()[first + at]
    if (first + at === chosen && item !== undefined) onChoose(item)
    else choose(first + at)
  }

  return {
    draw,
    key(event) {
      if (event.type === 'mouse') {
        if (event.action === 'press') click(event.row, event.column)
        else choose(chosen + (event.action === 'wheelup' ? -wheelRows : wheelRows))
        return host.redraw()
      }
      const item = found()[chosen]
      if (item !== undefined && onKey?.(event, item)) return host.redraw()
      if (event.type === 'text') setFilter(filter + event.text)
      else if (event.type === 'paste') setFilter((filter + event.text.replaceAll('\n', ' ')).slice(0, 1000))
      else if (event.name === 'esc' && filter !== '') setFilter('')
      else if (isKey(event, 'esc', 'ctrl+c', 'ctrl+d')) return host.close()
      else if (event.name === 'enter') return item === undefined ? undefined : onChoose(item)
      else if (event.name === 'backspace') setFilter(filter.slice(0, -1))
      else if (event.name === 'ctrl+u') setFilter('')
      else if (isKey(event, 'up', 'ctrl+p')) choose(chosen - 1)
      else if (isKey(event, 'down', 'ctrl+n')) choose(chosen + 1)
      else if (event.name === 'pageup') choose(chosen - 10)
      else if (event.name === 'pagedown') choose(chosen + 10)
      host.redraw()
    },
  }
}

const listRow = (row: StyledLine, isChosen: boolean, width: number): StyledLine =>
  cutLine(
    [
      span(isChosen ? ' ❯ ' : '   ', styles.accent),
      ...(isChosen
        ? row.map(({ text, style }) => span(text, style === styles.dim ? '' : `${style};1`.replace(/^;/, '')))
        : row),
    ],
    width,
  )

const padded = (rows: readonly StyledLine[], height: number): readonly StyledLine[] => [
  ...rows,
  ...Array.from({ length: Math.max(0, height - rows.length) }, () => emptyLine),
]

function beside(
  left: readonly StyledLine[],
  right: readonly StyledLine[],
  width: number,
  height: number,
): readonly StyledLine[] {
  return padded(left, height)
    .slice(0, height)
    .map((row, index): StyledLine => {
      const gap = ' '.repeat(Math.max(0, width - lineWidth(row)))
      return [...row, span(gap), span('│ ', styles.dim), ...(right[index] ?? [])]
    })
}
