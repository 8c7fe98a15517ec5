import type { LiveView } from '@holdfast/client'
import type { KeyboardEvent } from 'react'
import { useRef } from 'react'
import { isKey } from '../../keys/match-key.ts'
import type { DraftText } from '../../text/draft-text.ts'

/** Returns what people wrote in this session, the newest first, without repeats in a row. */
export const promptsOf = (messages: LiveView['messages']): readonly string[] =>
  messages
    .flatMap((message) => (message.kind === 'user' && !message.child && message.text !== '' ? [message.text] : []))
    .filter((text, index, all) => text !== all[index - 1])
    .reverse()

/** Steps through earlier prompts with Up and Down, from an empty input box. */
export function useHistory(draft: DraftText, prompts: () => readonly string[]) {
  const at = useRef(-1)
  /** Handles a key of the input box. Returns whether it was one of the history. */
  return (event: KeyboardEvent): boolean => {
    const step = isKey(event.nativeEvent, 'historyBack') ? 1 : isKey(event.nativeEvent, 'historyForth') ? -1 : 0
    if (step === 0) return false
    const all = prompts()
    const text = draft.current()
    // A text that was changed is no longer one of the history.
    const from = text === '' ? -1 : text === all[at.current] ? at.current : null
    if (from === null) return false
    const next = from + step
    if (next < -1 || next >= all.length) return false
    event.preventDefault()
    at.current = next
    draft.write(next === -1 ? '' : (all[next] ?? ''))
    return true
  }
}
