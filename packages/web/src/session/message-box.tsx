import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from 'react'

type MessageBoxProps = {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly onSend: () => void
  readonly placeholder: string
  readonly rows?: number
}

/** Where people write. Enter sends and Shift+Enter breaks the line; it grows with its text. */
export function MessageBox({ value, onChange, onSend, placeholder, rows = 1 }: MessageBoxProps) {
  const box = useRef<HTMLTextAreaElement>(null)

  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is what makes it grow
  useLayoutEffect(() => {
    const area = box.current
    if (!area) return
    area.style.height = 'auto'
    area.style.height = `${area.scrollHeight}px`
  }, [value])

  // Somebody who opens a session is about to write; on a touch screen the keyboard would cover what they came to read.
  useEffect(() => {
    if (matchMedia('(hover: hover)').matches) box.current?.focus()
  }, [])

  const onKeyDown = (event: KeyboardEvent) => {
    // An Enter that ends an input method's composition chooses a character; it sends nothing.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    onSend()
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
