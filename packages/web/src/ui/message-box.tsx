import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from 'react'

type MessageBoxProps = {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly onSend: () => void
  readonly onFollowUp?: () => void
  readonly onRecall?: () => void
  readonly placeholder: string
  readonly rows?: number
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
    />
  )
}
