import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { isKey } from '../keys/match-key.ts'
import { runKey, useKey } from '../keys/use-key.ts'

/**
 * Gives the focus to the message box, from something that goes away. Not on a touch screen: its keyboard would cover the
 * transcript.
 */
export const returnToMessageBox = (): boolean => matchMedia('(hover: hover)').matches && runKey('focusInput')

/** Returns whether a key sends a text. A keyboard on glass has no Shift+Enter. */
export const isSendKey = (press: KeyboardEvent['nativeEvent']): boolean =>
  isKey(press, 'send') && !matchMedia('(hover: none)').matches

type MessageBoxProps = {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly onSend: () => void
  readonly onFollowUp?: () => void
  readonly onRecall?: () => void
  readonly placeholder: string
  readonly rows?: number
  /** The element, so that its parent can move the caret. */
  readonly box?: RefObject<HTMLTextAreaElement | null>
  /** Called with the place of the caret. */
  readonly onCaret?: (at: number) => void
  /** Handles a key before the box does. Returns whether it did. */
  readonly onKey?: (event: KeyboardEvent) => boolean
  /** The open list of completions, and the one that is chosen. */
  readonly completion?: { readonly listId: string; readonly optionId: string } | null
}

/**
 * The text box. It grows with its text. Its keys, such as Enter to send, are in the table of keys.
 */
export function MessageBox({
  value,
  onChange,
  onSend,
  onFollowUp = onSend,
  onRecall,
  placeholder,
  rows = 1,
  box: given,
  onCaret,
  onKey,
  completion = null,
}: MessageBoxProps) {
  const own = useRef<HTMLTextAreaElement>(null)
  const box = given ?? own

  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is what makes it grow
  useLayoutEffect(() => {
    const area = box.current
    if (!area) return
    area.style.height = 'auto'
    area.style.height = `${area.scrollHeight}px`
  }, [value])

  // Focus the box, but not on a touch screen: its keyboard would cover the transcript.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it appears
  useEffect(() => {
    if (matchMedia('(hover: hover)').matches) box.current?.focus()
  }, [])

  useKey('focusInput', () => box.current?.focus())

  const onKeyDown = (event: KeyboardEvent) => {
    if (onKey?.(event)) return
    const press = event.nativeEvent
    if (isKey(press, 'newLine')) return // as the box does by itself
    const run =
      onRecall && isKey(press, 'recall')
        ? onRecall
        : isKey(press, 'followUp')
          ? onFollowUp
          : isSendKey(press)
            ? onSend
            : null
    if (run === null) return
    event.preventDefault()
    run()
  }
  return (
    <textarea
      ref={box}
      className="message-box"
      aria-label="Message"
      placeholder={placeholder}
      rows={rows}
      value={value}
      onChange={(event) => {
        onCaret?.(event.target.selectionStart)
        onChange(event.target.value)
      }}
      onSelect={(event) => onCaret?.(event.currentTarget.selectionStart)}
      onKeyDown={onKeyDown}
      dir="auto"
      {...(completion && {
        'aria-autocomplete': 'list',
        'aria-controls': completion.listId,
        'aria-activedescendant': completion.optionId,
      })}
    />
  )
}
