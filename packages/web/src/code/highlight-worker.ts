import hljs from 'highlight.js/lib/core'
import { languageOf } from './language-names.ts'
import { builtIn, lazy } from './languages.ts'
import { type Piece, piecesOf, type ScopeNode } from './roles.ts'

/** What the page asks of the worker, and what it answers. `pieces` is null for a language that is not known. */
export type HighlightRequest = { readonly id: number; readonly language: string; readonly text: string }
export type HighlightAnswer = { readonly id: number; readonly pieces: readonly Piece[] | null }

for (const [name, language] of Object.entries(builtIn)) hljs.registerLanguage(name, language)

/** Colours code; null if its language is not known. */
export async function highlight(language: string, text: string): Promise<readonly Piece[] | null> {
  const name = languageOf(language)
  const load = Object.hasOwn(lazy, name) ? lazy[name] : undefined
  if (load && !hljs.getLanguage(name)) hljs.registerLanguage(name, (await load()).default)
  if (!hljs.getLanguage(name)) return null
  const { _emitter: emitter } = hljs.highlight(text, { language: name, ignoreIllegals: true })
  // The tree from which highlight.js makes HTML. Its types leave it out, since it is for plugins.
  return piecesOf((emitter as unknown as { readonly root: ScopeNode }).root)
}

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
