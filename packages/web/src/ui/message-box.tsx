import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from 'react'

type MessageBoxProps = {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly onSend: () => void
  readonly onFollowUp?: () => void
  readonly onRecall?: () => void
  readonly placeholder: string
  readonly rows?: number
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
  onKey,
  completion = null,
}: MessageBoxProps) {
  const box = useRef<HTMLTextAreaElement>(null)

  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is what makes it grow
  useLayoutEffect(() => {
    const area = box.current
    if (!area) return
    area.style.height = 'auto'
    area.style.height = `${area.scrollHeight}px`
  }, [value])

  // Focus the box, but not on a touch screen: its keyboard would cover the transcript.
  useEffect(() => {
    if (matchMedia('(hover: hover)').matches) box.current?.focus()
  }, [])

  const onKeyDown = (event: KeyboardEvent) => {
    if (onKey?.(event)) return
    if (event.key === 'ArrowUp' && event.altKey && onRecall) {
      event.preventDefault()
      onRecall()
    }
    // Enter during an IME composition chooses a character; it does not send.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    if (event.ctrlKey || event.altKey || event.metaKey) onFollowUp()
    else onSend()
  }
  return (
    <textarea
      ref={box}
      className="message-box"
      aria-label="Message"
      placeholder={placeholder}
      rows={rows}
      value={value}
      onChange={(event) => onChange(event.target.value)}
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
