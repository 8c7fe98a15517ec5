import type { Writable } from 'node:stream'
import { escapeHiddenInJson } from '@holdfast/protocol/hostile-text'

/** Standard output or standard error. Writes happen in order; a promise resolves when its text is written. */
export interface Output {
  readonly isTerminal: boolean
  /** The width of the terminal in characters; null if it is none. */
  readonly columns: number | null
  /** Its height in lines. */
  readonly rows: number | null
  readonly paint: Paint
  write(text: string): Promise<void>
  /** Writes sentences as lines that are wrapped at words. Not for what would run: a line break would change its meaning. */
  tell(sentences: string): Promise<void>
  /** Wraps sentences as `tell` does. */
  wrap(sentences: string): string
  /** Writes a value as one line of JSON. */
  writeJson(value: unknown): Promise<void>
}

/** The reader of our output is gone, as `head` is after its last line. That is not an error of the command. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed'
}

/** When an output is coloured. */
type Colour = 'always' | 'at a terminal' | 'never'

/** Reads the choice from `FORCE_COLOR` and `NO_COLOR`, which Node itself weighs in this order. */
export function colourOf(environment: Readonly<Record<string, string | undefined>>): Colour {
  const { FORCE_COLOR: forced, NO_COLOR: refused } = environment
  if (forced !== undefined && forced !== '') return forced === '0' || forced === 'false' ? 'never' : 'always'
  return refused ? 'never' : 'at a terminal'
}

type OutputDeps = {
  readonly stream: Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }
  readonly colour: Colour
  /** Whether a failed write rejects; otherwise its text is lost. */
  readonly rejectsOnFailure: boolean
  /** Wraps sentences at words for a terminal of this many columns; null for no terminal. */
  readonly wrapSentences: (text: string, columns: number | null) => string
}

export function createOutput({ stream, colour, rejectsOnFailure, wrapSentences }: OutputDeps): Output {
  stream.on('error', () => undefined) // reported to the writer below; without a listener it would end the process
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      stream.write(text, (error) => {
        if (!error || !rejectsOnFailure) return resolve()
        const isClosed = 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED')
        reject(isClosed ? new OutputClosed('the reader of the output is gone') : error)
      })
    })
  const columns = () => (stream.isTTY === true ? stream.columns || 80 : null)
  const wrap = (sentences: string) => wrapSentences(sentences, columns())
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return columns()
    },
    get rows() {
      return stream.isTTY === true ? (stream.rows ?? 24) : null
    },
    paint: createPaint(colour === 'always' || (colour === 'at a terminal' && stream.isTTY === true)),
    write,
    wrap,
    tell: (sentences) => write(`${wrap(sentences)}\n`),
    writeJson: (value) => write(`${toJsonText(value)}\n`),
  }
}

/** Returns JSON in which characters that could control a terminal are escaped. */
export const toJsonText = (value: unknown): string => escapeHiddenInJson(JSON.stringify(value))

export type Paint = Readonly<Record<'dim' | 'bold' | 'red' | 'green', (text: string) => string>>

export function createPaint(isColoured: boolean): Paint {
  const style = (on: number, off: number) => (text: string) =>
    isColoured ? `\u001b[${on}m${text}\u001b[${off}m` : text
  return { dim: style(2, 22), bold: style(1, 22), red: style(31, 39), green: style(32, 39) }
}
