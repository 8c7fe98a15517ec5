import { useState } from 'react'

const keyOf = (session: string) => `holdfast.draft.${session}`

/** What a person has written and not sent: kept for this tab, so that a reload or a look elsewhere loses nothing. */
export function useDraftText(session: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => sessionStorage.getItem(keyOf(session)) ?? '')
  const keep = (text: string) => {
    setText(text)
    if (text === '') sessionStorage.removeItem(keyOf(session))
    else sessionStorage.setItem(keyOf(session), text)
  }
  return [text, keep]
}
