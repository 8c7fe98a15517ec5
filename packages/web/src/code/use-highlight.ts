import type { Piece } from '@holdfast/client/code-roles'
import { useEffect, useState } from 'react'
import { createHighlighter } from './highlighter.ts'

const highlighter = createHighlighter(
  () => new Worker(new URL('./highlight-worker.ts', import.meta.url), { type: 'module' }),
)

const highlightedLinesMax = 1000
const highlightedCharsMax = 100_000

/** Returns whether a text is short enough to be coloured. */
export const isHighlightable = (text: string): boolean =>
  text.length <= highlightedCharsMax && text.split('\n', highlightedLinesMax + 1).length <= highlightedLinesMax

/** Returns the coloured pieces of a code; null while they are not known, and if it stays plain. */
export function useHighlight(language: string, text: string, isWanted: boolean): readonly Piece[] | null {
  const isAsked = isWanted && language !== '' && isHighlightable(text)
  const [found, setFound] = useState<{ readonly text: string; readonly pieces: readonly Piece[] | null } | null>(null)
  const known = isAsked ? highlighter.known(language, text) : null
  useEffect(() => {
    if (!isAsked || known !== undefined) return
    let isLeft = false
    highlighter.highlight(language, text).then((pieces) => {
      if (!isLeft) setFound({ text, pieces })
    })
    return () => {
      isLeft = true
    }
  }, [isAsked, known, language, text])
  if (!isAsked) return null
  return known ?? (found?.text === text ? found.pieces : null)
}
