/** A block of text. `source` is what it was made from, so that a screen redraws only the one that grows. */
export type Block = { readonly source: string } & (
  | { readonly type: 'paragraph'; readonly text: string }
  | { readonly type: 'heading'; readonly level: number; readonly text: string }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'list'; readonly ordered: boolean; readonly start: number; readonly items: readonly string[] }
  | { readonly type: 'quote'; readonly text: string }
  | { readonly type: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly type: 'rule' }
)

const fence = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/
const heading = /^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/
const rule = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/
const quote = /^ {0,3}> ?/
const item = /^( {0,3})([-*+]|\d{1,9}[.)])(\s+|$)/
const tableRule = /^\s*\|?(?:\s*:?-+:?\s*\|)+\s*:?-*:?\s*\|?\s*$/

type Taken = { readonly block: Block; readonly next: number }
type Take = (lines: readonly string[], at: number) => Taken | null

/** Splits text into blocks. Total: what is no markdown is a paragraph, and an open fence runs to the end of the text. */
export function parseBlocks(text: string): readonly Block[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const blocks: Block[] = []
  let at = 0
  while (at < lines.length) {
    if (isBlank(lines[at])) {
      at++
      continue
    }
    const taken = takeSpecial(lines, at) ?? takeParagraph(lines, at)
    blocks.push(taken.block)
    at = taken.next
  }
  return blocks
}

const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === ''
const sourceOf = (lines: readonly string[], from: number, to: number): string => lines.slice(from, to).join('\n')

const takeFence: Take = (lines, at) => {
  const open = fence.exec(lines[at] ?? '')
  const mark = open?.[1]
  if (mark === undefined) return null
  const isClose = (line: string) => line.trim().startsWith(mark) && line.trim().replaceAll(mark.charAt(0), '') === ''
  let end = at + 1
  while (end < lines.length && !isClose(lines[end] ?? '')) end++
  const next = Math.min(end + 1, lines.length)
  const text = sourceOf(lines, at + 1, end)
  return { block: { type: 'code', language: open?.[2] ?? '', text, source: sourceOf(lines, at, next) }, next }
}

const takeHeading: Take = (lines, at) => {
  const found = heading.exec(lines[at] ?? '')
  if (!found) return null
  const [source, marks = '', text = ''] = found
  return { block: { type: 'heading', level: marks.length, text, source }, next: at + 1 }
}

const takeRule: Take = (lines, at) =>
  rule.test(lines[at] ?? '') ? { block: { type: 'rule', source: lines[at] ?? '' }, next: at + 1 } : null

const takeQuote: Take = (lines, at) => {
  let next = at
  while (quote.test(lines[next] ?? '')) next++
  if (next === at) return null
  const text = lines
    .slice(at, next)
    .map((line) => line.replace(quote, ''))
    .join('\n')
  return { block: { type: 'quote', text, source: sourceOf(lines, at, next) }, next }
}

const isOrdered = (mark: string): boolean => !/^[-*+]$/.test(mark)

const takeList: Take = (lines, at) => {
  const first = item.exec(lines[at] ?? '')
  const mark = first?.[2]
  if (mark === undefined) return null
  const items: string[][] = []
  let indent = 0
  let next = at
  for (; next < lines.length; next++) {
    const line = lines[next] ?? ''
    const begins = rule.test(line) ? null : item.exec(line)
    const column = line.search(/\S/)
    if (begins && (items.length === 0 || column < indent)) {
      if (isOrdered(begins[2] ?? '') !== isOrdered(mark)) break
      indent = begins[0].length
      items.push([line.slice(indent)])
    } else if (isBlank(line)) {
      if (!continuesAfterBlank(lines, next, indent)) break
      items.at(-1)?.push('')
    } else if (column >= indent) {
      items.at(-1)?.push(line.slice(indent))
    } else if (isBlank(lines[next - 1]) || takeSpecial(lines, next)) {
      break
    } else {
      items.at(-1)?.push(line.trimStart()) // a lazy line still belongs to the item above it
    }
  }
  const start = isOrdered(mark) ? Number.parseInt(mark, 10) : 1
  const block: Block = {
    type: 'list',
    ordered: isOrdered(mark),
    start,
    items: items.map((item) => item.join('\n')),
    source: sourceOf(lines, at, next),
  }
  return { block, next }
}

function continuesAfterBlank(lines: readonly string[], at: number, indent: number): boolean {
  const after = lines.slice(at, at + 3).find((line) => !isBlank(line)) // two blank lines end a list
  return after !== undefined && (after.search(/\S/) >= indent || item.test(after))
}

const cells = (line: string): readonly string[] =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))

const takeTable: Take = (lines, at) => {
  const top = lines[at] ?? ''
  if (!top.includes('|') || !tableRule.test(lines[at + 1] ?? '')) return null
  let next = at + 2
  while (next < lines.length && (lines[next] ?? '').includes('|')) next++
  const rows = lines.slice(at + 2, next).map(cells)
  return { block: { type: 'table', head: cells(top), rows, source: sourceOf(lines, at, next) }, next }
}

const takers: readonly Take[] = [takeFence, takeHeading, takeRule, takeQuote, takeList, takeTable]

function takeSpecial(lines: readonly string[], at: number): Taken | null {
  for (const take of takers) {
    const taken = take(lines, at)
    if (taken) return taken
  }
  return null
}

function takeParagraph(lines: readonly string[], at: number): Taken {
  let next = at + 1
  while (next < lines.length && !isBlank(lines[next]) && !interrupts(lines, next)) next++
  const text = sourceOf(lines, at, next)
  return { block: { type: 'paragraph', text, source: text }, next }
}

/** Looks at single lines only, so that a long paragraph is not parsed once for each of its lines. */
function interrupts(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? ''
  if (fence.test(line) || heading.test(line) || rule.test(line) || quote.test(line)) return true
  const mark = item.exec(line)?.[2]
  return mark !== undefined && (!isOrdered(mark) || Number.parseInt(mark, 10) === 1) && !/^\s*\S+\s*$/.test(line)
}
