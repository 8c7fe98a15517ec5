import { useEffect, useRef, useState } from 'react'

type CopyButtonProps = {
  readonly text: () => string
  /** What is copied, for people who do not see where the button is. */
  readonly label: string
  /** Draws a picture instead of a word. */
  readonly isIcon?: boolean
}

type Word = 'Copy' | 'Copied' | 'Not allowed'

const shownMs = 1500

/** Copies a text, and says whether it could. */
export function CopyButton({ text, label, isIcon = false }: CopyButtonProps) {
  const [word, setWord] = useState<Word>('Copy')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      setWord('Copied')
    } catch {
      setWord('Not allowed') // browsers allow the clipboard only on https and localhost
    }
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setWord('Copy'), shownMs)
  }
  return (
    <button
      type="button"
      className={isIcon ? 'quiet icon-button' : 'quiet'}
      aria-label={word === 'Copy' ? label : word}
      title={isIcon ? (word === 'Copy' ? label : word) : undefined}
      onClick={copy}
    >
      {isIcon ? <Icon word={word} /> : word}
    </button>
  )
}

const icons: Readonly<Record<Word, string>> = {
  Copy: 'M6 5.500h7v7.500h-7zM3.500 10.500h-.5v-7.500h7v.5',
  Copied: 'M3.500 8.500l3 3 6-7',
  'Not allowed': 'M4 4l8 8M12 4l-8 8',
}

const Icon = ({ word }: { readonly word: Word }) => (
  <svg viewBox="0 0 16 16" aria-hidden="true">
    <path d={icons[word]} />
  </svg>
)
