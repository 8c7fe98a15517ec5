import type { FoundPath } from '@holdfast/protocol'

/** The `@` before the caret, and what is typed after it. */
export type Mention = { readonly start: number; readonly text: string }

/** Returns the mention that is being typed at the caret; null if there is none. An address such as a@b is none. */
export function findMention(text: string, caret: number): Mention | null {
  const before = /(^|[\s("'])@([^\s@]*)$/.exec(text.slice(0, caret))
  const typed = before?.[2]
  return typed === undefined ? null : { start: caret - typed.length - 1, text: typed }
}

/** Returns the text with the mention completed, and where the caret is then. A folder stays open for what is in it. */
export function completeMention(
  text: string,
  { start, text: typed }: Mention,
  { path, type }: FoundPath,
): { readonly text: string; readonly caret: number } {
  const isFolder = type === 'folder'
  const named = isFolder && !path.endsWith('/') ? `${path}/` : path
  const shown = /\s/.test(named) ? `@"${named}"` : `@${named}`
  const after = text.slice(start + 1 + typed.length)
  const inserted = isFolder || /^\s/.test(after) ? shown : `${shown} `
  return { text: `${text.slice(0, start)}${inserted}${after}`, caret: start + inserted.length }
}
