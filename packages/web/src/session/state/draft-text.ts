import { useMemo, useRef, useState } from 'react'

const keyOf = (session: string) => `holdfast.draft.${session}`

/** Text that was written and not sent. */
export type DraftText = {
  readonly text: string
  /** Returns the current text, also in an old closure. */
  readonly current: () => string
  readonly write: (text: string) => void
}

/** Stored for this tab, so that a reload loses nothing. */
export function useDraftText(session: string): DraftText {
  const [text, setText] = useState(() => sessionStorage.getItem(keyOf(session)) ?? '')
  const written = useRef(text)
  const same = useMemo(
    () => ({
      current: () => written.current,
      write(next: string) {
        written.current = next
        setText(next)
        if (next === '') sessionStorage.removeItem(keyOf(session))
        else sessionStorage.setItem(keyOf(session), next)
      },
    }),
    [session],
  )
  return { text, ...same }
}
