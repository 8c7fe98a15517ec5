import hljs from 'highlight.js/lib/core'
import { languageOf } from './language-names.ts'
import { builtIn, lazy } from './languages.ts'
import { type Piece, piecesOf, type ScopeNode } from './roles.ts'

for (const [name, language] of Object.entries(builtIn)) hljs.registerLanguage(name, language)

/** Colours code; null if its language is not known. Loads the language first if few texts use it. */
export async function highlight(language: string, text: string): Promise<readonly Piece[] | null> {
  const name = languageOf(language)
  const load = Object.hasOwn(lazy, name) ? lazy[name] : undefined
  if (load && !hljs.getLanguage(name)) hljs.registerLanguage(name, (await load()).default)
  return highlightKnown(name, text)
}

/** Colours code in a language that is loaded; null for any other. */
export function highlightKnown(language: string, text: string): readonly Piece[] | null {
  const name = languageOf(language)
  if (!hljs.getLanguage(name)) return null
  const { _emitter: emitter } = hljs.highlight(text, { language: name, ignoreIllegals: true })
  // The tree from which highlight.js makes HTML. Its types leave it out, since it is for plugins.
  return piecesOf((emitter as unknown as { readonly root: ScopeNode }).root)
}
