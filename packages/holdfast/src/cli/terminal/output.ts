import type { Writable } from 'node:stream'

/** Standard output or error: written in order, and known to be written when `write` resolves. */
export interface Output {
  readonly isTerminal: boolean
  readonly paint: Paint
  write(text: string): Promise<void>
}

/** Whoever read our output has left, as `head` does. Nothing more can be said to them, and nothing is wrong. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed'
}

export type OutputDeps = {
  readonly stream: Writable & { readonly isTTY?: boolean }
  readonly isColoured: boolean
  /** Whether there is no point in going on once nobody reads; otherwise what is written is lost, and that is all. */
  readonly isVital: boolean
}

export function createOutput({ stream, isColoured, isVital }: OutputDeps): Output {
  stream.on('error', () => undefined) // told to whoever writes, below; unheard it would end the process
  return {
    isTerminal: stream.isTTY === true,
    paint: createPaint(isColoured && stream.isTTY === true),
    write: (text) =>
      new Promise((resolve, reject) => {
        stream.write(text, (error) => {
          if (!error || !isVital) return resolve()
          const isGone = 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED')
          reject(isGone ? new OutputClosed('nobody reads this any more') : error)
        })
      }),
  }
}

export type Paint = {
  readonly dim: (text: string) => string
  readonly bold: (text: string) => string
  readonly red: (text: string) => string
}

export function createPaint(isColoured: boolean): Paint {
  const style = (on: number, off: number) => (text: string) =>
    isColoured ? `\u001b[${on}m${text}\u001b[${off}m` : text
  return { dim: style(2, 22), bold: style(1, 22), red: style(31, 39) }
}
