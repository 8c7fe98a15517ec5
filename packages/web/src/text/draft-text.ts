import { combineQueueEntriesToText } from '@holdfast/client'
import { useMemo, useRef, useState } from 'react'

const keyOf = (session: string) => `holdfast.draft.${session}`
const sendingKeyOf = (session: string) => `holdfast.sending.${session}`

/** Text that was written and not sent. */
export type DraftText = {
  readonly text: string
  /** Returns the current text, also in an old closure. */
  readonly current: () => string
  readonly write: (text: string) => void
  /** Takes the text out of the input, to send it. What is typed from now on is the next one. */
  readonly take: () => string
  /** Ends what `take` began. A text that was refused goes back, before what was typed since. */
  readonly settle: (text: string, isSent: boolean) => void
}

/** Stores a text in this tab, and for another tab if this one is closed. A text that is too long is kept in memory only. */
function store(key: string, text: string): void {
  for (const storage of [sessionStorage, localStorage]) {
    storage.removeItem(key)
    try {
      if (text !== '') storage.setItem(key, text)
    } catch {
      // The storage is full.
    }
  }
}

/** Reads a stored text: of this tab, else of one that was closed. */
const readStored = (key: string): string => sessionStorage.getItem(key) ?? localStorage.getItem(key) ?? ''

const joined = (...texts: readonly string[]): string => combineQueueEntriesToText(texts.filter((text) => text !== ''))

/** Reads the draft of this tab. A text that was being sent during a reload is in it again: it may not have arrived. */
const readDraft = (session: string): string => joined(readStored(sendingKeyOf(session)), readStored(keyOf(session)))

/** Stored in this browser, so that a reload or a closed tab loses nothing. */
export function useDraftText(session: string): DraftText {
  const [text, setText] = useState(() => readDraft(session))
  const written = useRef(text)
  const same = useMemo(() => {
    const write = (next: string) => {
      written.current = next
      setText(next)
      store(keyOf(session), next)
    }
    return {
      current: () => written.current,
      write,
      take() {
        const taken = written.current
        store(sendingKeyOf(session), taken)
        write('')
        return taken
      },
      settle(taken: string, isSent: boolean) {
        if (!isSent) write(joined(taken, written.current))
        store(sendingKeyOf(session), '')
      },
    }
  }, [session])
  return { text, ...same }
}
