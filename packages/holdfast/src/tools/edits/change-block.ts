import { bodyOf, endOf, type Lines, lineOf } from './lines.ts'
import { type BlockHit, reindent, type Tier } from './match-lines.ts'
import type { Splice } from './splice.ts'

/** What happens to the lines of a block, in order: `keep` and `remove` stand for one line of the text each. */
export type LineChange =
  | { readonly type: 'keep'; readonly text: string }
  | { readonly type: 'remove'; readonly text: string }
  | { readonly type: 'add'; readonly text: string }

/**
 * Returns the splices that make the changes at a hit. Kept lines keep their bytes. A new line takes the end of the line
 * that it replaces or follows, and the indent of the text. Returns null if a new line cannot take that indent.
 */
export function changeBlock(
  lines: Lines,
  { line: at, indent }: BlockHit,
  changes: readonly LineChange[],
  tier: Tier,
): readonly Splice[] | null {
  const splices: Splice[] = []
  let line = at
  for (let index = 0; index < changes.length; ) {
    if (changes[index]?.type === 'keep') {
      line++
      index++
      continue
    }
    const from = index
    while (index < changes.length && changes[index]?.type !== 'keep') index++
    const run = changes.slice(from, index)
    const removed = run.filter(({ type }) => type === 'remove').map(({ text }) => text)
    const added: string[] = []
    for (const { type, text } of run) {
      if (type !== 'add') continue
      const indented = reindent(text, indent)
      if (indented === null) return null
      added.push(indented)
    }
    const isPaired = tier === 'typography' && removed.length === added.length
    const bodies = isPaired
      ? added.map((text, pair) => keepCharacters(bodyOf(lines, line + pair), removed[pair] ?? '', text))
      : added
    splices.push(withEnds(lines, line, removed.length, bodies))
    line += removed.length
  }
  return splices
}

/** Counts how many characters changes add at a hit, at most, before they are made: a new line takes the indent of the text. */
export function createGrowths(changes: readonly LineChange[]): { at(hit: BlockHit): number } {
  const added = changes.filter(({ type }) => type === 'add')
  const removed = changes.filter(({ type }) => type === 'remove')
  const chars = added.reduce((sum, { text }) => sum + text.length + lineEndChars, 0)
  const less = removed.reduce((sum, { text }) => sum + text.trim().length, 0)
  return { at: ({ indent }) => chars - less + (indent === undefined ? 0 : added.length * indent.blanks.length) }
}

const lineEndChars = 2

/** Replaces `count` lines by new ones, which get their ends here. */
function withEnds(lines: Lines, line: number, count: number, bodies: readonly string[]): Splice {
  const removed = Array.from({ length: count }, (_, index) => lineOf(lines, line + index))
  const isAtEnd = line + count === lines.count
  const lastEnd = lines.count === 0 ? '\n' : endOf(lines, lines.count - 1)
  if (isAtEnd && lastEnd === '' && count === 0 && line > 0 && bodies.length > 0) {
    // New lines behind a last line without an end: that line gets one, and the text still ends without.
    const last = lineOf(lines, line - 1)
    const end = endBefore(lines, line - 1)
    const added = [last + end, ...bodies.map((body, index) => body + (index === bodies.length - 1 ? '' : end))]
    return spliceOf(line - 1, [last], added)
  }
  const added = bodies.map((body, index) => {
    const isLast = isAtEnd && lastEnd === '' && index === bodies.length - 1
    if (isLast) return body
    const replaced = count > 0 ? endOf(lines, line + Math.min(index, count - 1)) : ''
    return body + (replaced === '' ? endBefore(lines, line) : replaced)
  })
  return spliceOf(line, removed, added)
}

const spliceOf = (line: number, removed: readonly string[], added: readonly string[]): Splice => ({
  line,
  removed: { text: removed.join(''), length: removed.length },
  added: { text: added.join(''), length: added.length },
})

/** Returns the end of the line before; of the first line, its own; `\n` where there is none. */
function endBefore(lines: Lines, line: number): string {
  const near = line > 0 ? endOf(lines, line - 1) : lines.count > 0 ? endOf(lines, 0) : ''
  return near === '' ? '\n' : near
}

/** Returns the new line with the characters of the text where the old and the new line of the request agree. */
function keepCharacters(line: string, old: string, next: string): string {
  const [end, last] = [old.trimEnd(), next.trimEnd()]
  const length = Math.min(end.length, last.length)
  let head = 0
  while (head < length && end[head] === last[head]) head++
  let tail = 0
  while (tail < length - head && end[end.length - 1 - tail] === last[last.length - 1 - tail]) tail++
  const middle = last.slice(head, last.length - tail)
  return line.slice(0, head) + middle + line.slice(end.length - tail, end.length) + next.slice(last.length)
}
