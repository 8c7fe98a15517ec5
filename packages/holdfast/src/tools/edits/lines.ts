/**
 * A text and where its lines begin. A line carries its own end: `\n`, `\r\n`, or none if it is the last. Offsets and no
 * strings are kept, because a text may have millions of lines.
 */
export type Lines = {
  readonly text: string
  /** The offset of each line, and the length of the text behind the last. */
  readonly starts: Int32Array
  readonly count: number
  /** How many lines have an end, and how many of these are `\r\n`. */
  readonly feeds: number
  readonly returns: number
}

const lineFeed = 10
const carriageReturn = 13

/** Expected characters per line, for the first size of the offset list. */
const lineChars = 32

export function splitLines(text: string): Lines {
  const splitter = createSplitter(text)
  splitter.advance(Number.POSITIVE_INFINITY)
  return splitter.end()
}

/** The same for the first lines of a text. What follows them counts as one line more. */
export function splitFirstLines(text: string, max: number): Lines {
  const splitter = createSplitter(text)
  splitter.advance(max)
  return splitter.end()
}

/** The same for the lines up to an offset, and for `more` lines after it. */
export function splitThrough(text: string, offset: number, more: number): Lines {
  const splitter = createSplitter(text)
  splitter.advance(Number.POSITIVE_INFINITY, offset)
  splitter.advance(more)
  return splitter.end()
}

/** How many lines are found in one slice: a few milliseconds. */
const sliceLines = 200_000

/** The same for the main thread: `pause` lets other work run after each slice of lines. */
export async function splitLinesInSlices(text: string, pause: () => Promise<unknown>): Promise<Lines> {
  const splitter = createSplitter(text)
  while (splitter.advance(sliceLines)) await pause()
  return splitter.end()
}

function createSplitter(text: string) {
  const offsets = createOffsets(text)
  let [feeds, returns] = [0, 0]
  let at = text.indexOf('\n')
  return {
    /** Finds the next line ends, at most `max`, and those before `upTo`. Returns whether there are more. */
    advance(max: number, upTo = Number.POSITIVE_INFINITY): boolean {
      // Once over the text: a search for each line costs more than a list that grows.
      for (let found = 0; at !== -1 && at < upTo && found < max; found++) {
        if (feeds + 2 >= offsets.list.length) offsets.grow()
        offsets.list[++feeds] = at + 1
        if (at > 0 && text.charCodeAt(at - 1) === carriageReturn) returns++
        at = text.indexOf('\n', at + 1)
      }
      return at !== -1
    },
    end(): Lines {
      const count = feeds + ((offsets.list[feeds] ?? 0) < text.length ? 1 : 0)
      offsets.list[count] = text.length
      return { text, starts: offsets.list.subarray(0, count + 1), count, feeds, returns }
    },
  }
}

/** From this length on, a list of offsets may take tens of megabytes: it grows in place and by so many of them. */
const longChars = 1024 * 1024
const offsetsAdded = 1024 * 1024

function createOffsets(text: string): { readonly list: Int32Array<ArrayBuffer>; grow(): void } {
  const size = Math.ceil(text.length / lineChars) + 2
  if (text.length >= longChars) {
    const { BYTES_PER_ELEMENT: bytes } = Int32Array
    const buffer = new ArrayBuffer(size * bytes, { maxByteLength: (text.length + 2) * bytes })
    const grow = () => buffer.resize(Math.min(buffer.byteLength + offsetsAdded * bytes, buffer.maxByteLength))
    return { list: new Int32Array(buffer), grow }
  }
  let list = new Int32Array(size)
  return {
    get list() {
      return list
    },
    grow() {
      const longer = new Int32Array(list.length * 2)
      longer.set(list)
      list = longer
    },
  }
}

/** Returns the offset at which a line begins. */
export const startOf = ({ starts }: Lines, line: number): number => starts[line] ?? 0

/** Returns a line with its end. */
export const lineOf = (lines: Lines, line: number): string =>
  lines.text.slice(startOf(lines, line), startOf(lines, line + 1))

/** Returns a line without its end. */
export const bodyOf = (lines: Lines, line: number): string =>
  lines.text.slice(startOf(lines, line), startOf(lines, line + 1) - endLength(lines, line))

/** Returns the end of a line; empty for a last line without one. */
export function endOf(lines: Lines, line: number): '' | '\n' | '\r\n' {
  const length = endLength(lines, line)
  return length === 0 ? '' : length === 1 ? '\n' : '\r\n'
}

function endLength({ text, starts }: Lines, line: number): 0 | 1 | 2 {
  const end = starts[line + 1] ?? 0
  if (end === (starts[line] ?? 0) || text.charCodeAt(end - 1) !== lineFeed) return 0
  return end - 1 > (starts[line] ?? 0) && text.charCodeAt(end - 2) === carriageReturn ? 2 : 1
}

/** Returns the line that holds an offset. */
export function lineAt({ starts, count }: Lines, offset: number): number {
  let [low, high] = [0, Math.max(0, count - 1)]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

/** Returns the lines of a text, each with its end. */
export function lineList(text: string): readonly string[] {
  const lines = splitLines(text)
  return Array.from({ length: lines.count }, (_, line) => lineOf(lines, line))
}

/** Returns the lines of a passage without their ends. A line feed at its end closes the last line and begins no other. */
export function bodies(passage: string): readonly string[] {
  const list = passage.split('\n')
  if (list.at(-1) === '') list.pop()
  return list.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
}
