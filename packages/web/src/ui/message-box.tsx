import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { useKey } from '../keys/use-key.ts'

type MessageBoxProps = {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly onSend: () => void
  readonly onFollowUp?: () => void
  readonly onRecall?: () => void
  readonly placeholder: string
  readonly rows?: number
  /** The element, for whoever moves its caret. */
  readonly box?: RefObject<HTMLTextAreaElement | null>
  /** Called with the place of the caret. */
  readonly onCaret?: (at: number) => void
  /** Handles a key before the box does. Returns whether it did. */
  readonly onKey?: (event: KeyboardEvent) => boolean
  /** The open list of completions, and the one that is chosen. */
  readonly completion?: { readonly listId: string; readonly optionId: string } | null
}

/**
 * The text box. Enter sends, with Ctrl, Alt or Command as a follow-up; Shift+Enter starts a new line; Alt+Up recalls the
 * queue. It grows with its text.
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
    if (event.key === 'ArrowUp' && event.altKey && onRecall) {
      event.preventDefault()
      onRecall()
    }
    // Enter during an IME composition chooses a character; it does not send. Safari says 229 then.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || event.keyCode === 229) return
    const isPlain = !(event.ctrlKey || event.altKey || event.metaKey)
    if (isPlain && matchMedia('(hover: none)').matches) return // a keyboard on glass has no Shift+Enter
    event.preventDefault()
    if (isPlain) onSend()
    else onFollowUp()
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
