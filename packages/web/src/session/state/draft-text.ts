import { useMemo, useRef, useState } from 'react'

const keyOf = (session: string) => `holdfast.draft.${session}`

/** What a person has written and not sent. */
export type DraftText = {
  readonly text: string
  /** What stands there this moment, also to whoever asked before the last key was pressed. */
  readonly current: () => string
  readonly write: (text: string) => void
}

/** Kept for this tab, so that a reload or a look elsewhere loses nothing. */
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
