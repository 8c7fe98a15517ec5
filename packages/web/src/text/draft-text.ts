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

function store(key: string, text: string): void {
  if (text === '') sessionStorage.removeItem(key)
  else sessionStorage.setItem(key, text)
}

const joined = (...texts: readonly string[]): string => combineQueueEntriesToText(texts.filter((text) => text !== ''))

/** Reads the draft of this tab. A text that was being sent during a reload is in it again: it may not have arrived. */
const readDraft = (session: string): string =>
  joined(sessionStorage.getItem(sendingKeyOf(session)) ?? '', sessionStorage.getItem(keyOf(session)) ?? '')

/** Stored for this tab, so that a reload loses nothing. */
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
