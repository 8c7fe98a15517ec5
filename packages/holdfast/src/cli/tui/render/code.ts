import type { CodeRole, Piece } from '@holdfast/client/code-roles'
import { type Span, type StyledLine, span, styles } from '../term/lines.ts'

/** The part of `@holdfast/client/highlight` that is used. */
type Highlight = {
  highlight(language: string, text: string): Promise<readonly Piece[] | null>
  highlightKnown(language: string, text: string): readonly Piece[] | null
}

/** By a variable: the types of highlight.js declare all globals of a browser, also for code that runs in Node. */
const highlightModule: string = '@holdfast/client/highlight'

/** Colours code once the library is loaded, which happens when the first code is shown. */
export interface CodeColours {
  /** Returns whether the code blocks of a text can be coloured now. If not, loads what is needed and tells the screen then. */
  isReady(text: string): boolean
  /** Returns the lines of code in colour; plain ones for a language that is not known or not loaded. */
  lines(language: string, text: string): readonly StyledLine[]
}

const codeCharsMax = 100_000

const roleStyles: Readonly<Record<CodeRole, string>> = {
  '': styles.none,
  comment: styles.dim,
  keyword: styles.special,
  string: styles.good,
  number: styles.warn,
  name: styles.accent,
  type: styles.accent,
  property: '34',
  meta: styles.dim,
  added: styles.good,
  removed: styles.bad,
}

export function createCodeColours(onLoaded: () => void): CodeColours {
  let library: Highlight | null = null
  let loading: Promise<Highlight | null> | null = null
  const loaded = new Set<string>()

  async function load(languages: readonly string[]): Promise<void> {
    loading ??= import(highlightModule).catch(() => null)
    library = await loading
    for (const language of languages) {
      await library?.highlight(language, '').catch(() => null) // loads the language
      loaded.add(language)
    }
    onLoaded()
  }

  return {
    isReady(text) {
      const missing = [...text.matchAll(fence)].map(([, name = '']) => name).filter((name) => !loaded.has(name))
      if (missing.length > 0) void load(missing)
      return missing.length === 0
    },
    lines(language, text) {
      const pieces = text.length > codeCharsMax || language === '' ? null : coloured(library, language, text)
      return pieces === null ? text.split('\n').map((one) => [span(one)]) : toLines(pieces)
    },
  }
}

const fence = /^ {0,3}(?:`{3,}|~{3,})\s*([\w+#.-]{1,30})/gm

function coloured(library: Highlight | null, language: string, text: string): readonly Piece[] | null {
  try {
    return library?.highlightKnown(language, text) ?? null
  } catch {
    return null // code that the library cannot read is shown plain
  }
}

function toLines(pieces: readonly Piece[]): readonly StyledLine[] {
  const lines: Span[][] = [[]]
  for (const [role, text] of pieces) {
    const [first = '', ...rest] = text.split('\n')
    if (first !== '') lines.at(-1)?.push(span(first, roleStyles[role]))
    for (const one of rest) lines.push(one === '' ? [] : [span(one, roleStyles[role])])
  }
  return lines
}
