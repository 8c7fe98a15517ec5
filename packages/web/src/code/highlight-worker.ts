import type { Piece } from '@holdfast/client/code-roles'
import { highlight } from '@holdfast/client/highlight'

/** What the page asks of the worker, and what it answers. `pieces` is null for a language that is not known. */
export type HighlightRequest = { readonly id: number; readonly language: string; readonly text: string }
export type HighlightAnswer = { readonly id: number; readonly pieces: readonly Piece[] | null }

// In a test there is no page that asks.
if (typeof self !== 'undefined' && typeof document === 'undefined') {
  self.onmessage = async ({ data }: MessageEvent<HighlightRequest>) => {
    const { id, language, text } = data
    let pieces: readonly Piece[] | null = null
    try {
      pieces = await highlight(language, text)
    } catch (error) {
      console.warn(`Code in ${language} could not be highlighted.`, error) // shown plain; the page needs an answer
    }
    self.postMessage({ id, pieces } satisfies HighlightAnswer)
  }
}
