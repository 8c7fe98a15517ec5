import type { Piece } from '@holdfast/client/code-roles'
import type { HighlightAnswer, HighlightRequest } from './highlight-worker.ts'

/** The part of a worker that is used. */
export type HighlightWorker = Pick<Worker, 'postMessage' | 'onmessage' | 'onerror'>

/** Pieces of code, once they are known. Null: it stays plain. */
export type Highlighter = {
  /** Returns what is known already; undefined if nothing is. */
  readonly known: (language: string, text: string) => readonly Piece[] | null | undefined
  readonly highlight: (language: string, text: string) => Promise<readonly Piece[] | null>
}

/** Characters of code whose colours are kept. */
const keptCharsMax = 2_000_000

/**
 * Creates a highlighter that works in a worker, which starts with the first request. It remembers the newest answers by
 * the whole text: a row that scrolls back into sight has its colours at once.
 */
export function createHighlighter(start: () => HighlightWorker): Highlighter {
  const kept = new Map<string, readonly Piece[] | null>()
  const waiting = new Map<number, { readonly key: string; readonly done: (pieces: readonly Piece[] | null) => void }>()
  const asked = new Map<string, Promise<readonly Piece[] | null>>()
  let keptChars = 0
  let worker: HighlightWorker | null = null
  let lastId = 0

  const keep = (key: string, pieces: readonly Piece[] | null) => {
    kept.set(key, pieces)
    keptChars += key.length
    for (const old of kept.keys()) {
      if (keptChars <= keptCharsMax) break
      kept.delete(old)
      keptChars -= old.length
    }
  }
  const settle = (id: number, pieces: readonly Piece[] | null) => {
    const one = waiting.get(id)
    if (!one) return
    waiting.delete(id)
    asked.delete(one.key)
    keep(one.key, pieces)
    one.done(pieces)
  }
  const open = (): HighlightWorker => {
    const opened = start()
    opened.onmessage = ({ data }: MessageEvent<HighlightAnswer>) => settle(data.id, data.pieces)
    // The worker could not be loaded: code stays plain.
    opened.onerror = () => {
      for (const id of [...waiting.keys()]) settle(id, null)
    }
    return opened
  }

  return {
    known: (language, text) => kept.get(keyOf(language, text)),
    highlight(language, text) {
      const key = keyOf(language, text)
      const known = kept.get(key)
      if (known !== undefined) return Promise.resolve(known)
      const running = asked.get(key)
      if (running) return running
      worker ??= open()
      const id = ++lastId
      const answer = new Promise<readonly Piece[] | null>((done) => waiting.set(id, { key, done }))
      asked.set(key, answer)
      worker.postMessage({ id, language, text } satisfies HighlightRequest)
      return answer
    },
  }
}

const keyOf = (language: string, text: string): string => `${language}\0${text}`
