import { escapeHidden } from '@holdfast/protocol'
import { memo } from 'react'
import { inOrder } from '../ui/elements.tsx'
import { useHighlight } from './use-highlight.ts'

type CodeTextProps = {
  readonly language: string
  readonly text: string
  /** More of it is coming: it stays plain until it is complete. */
  readonly isOpen?: boolean
}

/** Draws code in colour. It is plain until the colours are known; no line moves when they come. */
export const CodeText = memo(function CodeText({ language, text, isOpen = false }: CodeTextProps) {
  const pieces = useHighlight(language, text, !isOpen)
  if (pieces === null) return escapeHidden(text)
  return inOrder(pieces, ([role, piece]) =>
    role === '' ? escapeHidden(piece) : <span className={`code-${role}`}>{escapeHidden(piece)}</span>,
  )
})
