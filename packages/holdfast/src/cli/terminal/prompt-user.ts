import type { Readable } from 'node:stream'
import type { Output } from './output.ts'

/** A terminal's keyboard, or whatever else stands for standard input. */
export type Input = Readable & {
  readonly isTTY?: boolean
  /** Takes every key as it is pressed, and shows none. */
  setRawMode?(isRaw: boolean): unknown
}

export type AskDeps = {
  readonly input: Input
  readonly err: Output
  /** Ends the question as Ctrl-C does. */
  readonly signal: AbortSignal
}

const typedCharsMax = 64 * 1024

/** What the person typed, or null where they would rather not: Ctrl-C, or nothing more to come. */
export async function askLine(question: string, { input, err, signal }: AskDeps): Promise<string | null> {
  await err.write(question)
  return readTyped(input, signal, createLine())
}

/**
 * The same with nothing of it shown, not even how long it is. The terminal is told before the question is put, so that no
 * key pressed early is seen, and told back however this ends.
 */
export async function askHidden(question: string, { input, err, signal }: AskDeps): Promise<string | null> {
  input.setRawMode?.(true)
  try {
    await err.write(question)
    return await readTyped(input, signal, createLine())
  } finally {
    input.setRawMode?.(false)
    await err.write('\n')
  }
}

type Typed = 'more' | 'done' | 'left'

const ends = new Set(['\r', '\n'])
const rubouts = new Set(['\u007f', '\b'])
const [interrupt, endOfInput, eraseLine, escapeKey] = ['\u0003', '\u0004', '\u0015', '\u001b']

/** A line as it is typed, with what a terminal does not do for us when it shows nothing. */
function createLine() {
  let text = ''
  return {
    text: () => text,
    /** Takes in what arrived; an escape sequence is a key that writes nothing. */
    take(arrived: string): Typed {
      for (const [key = ''] of arrived.matchAll(/\u001b(?:\[[\d;]*[ -/]*[@-~]|O.|.)?|[\s\S]/gu)) {
        if (key === interrupt) return 'left'
        if (key === endOfInput) return text === '' ? 'left' : 'done'
        if (ends.has(key)) return 'done'
        if (rubouts.has(key)) text = [...text].slice(0, -1).join('')
        else if (key === eraseLine) text = ''
        else if (!key.startsWith(escapeKey) && text.length < typedCharsMax) text += key
      }
      return 'more'
    },
  }
}

function readTyped(input: Input, signal: AbortSignal, line: ReturnType<typeof createLine>): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const end = (typed: string | null) => {
      input.off('data', hear).off('end', leave).off('error', fail).pause()
      signal.removeEventListener('abort', leave)
      resolve(typed)
    }
    const hear = (arrived: Buffer | string) => {
      const typed = line.take(arrived.toString())
      if (typed !== 'more') end(typed === 'done' ? line.text() : null)
    }
    const leave = () => end(signal.aborted || line.text() === '' ? null : line.text())
    const fail = (error: Error) => {
      end(null)
      reject(error)
    }
    if (signal.aborted) return resolve(null)
    signal.addEventListener('abort', leave)
    input.on('data', hear).on('end', leave).on('error', fail).resume()
  })
}
