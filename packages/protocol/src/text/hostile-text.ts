// C0 and C1 controls, bidirectional overrides and isolates, zero-width and format marks, line separators, the
// byte-order mark, and tag characters, which can hide whole sentences from people but not from models.
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

export const hasHiddenChars = (text: string): boolean => text.search(hidden) !== -1

/**
 * Escapes invisible and control characters, so that untrusted text is safe to print and shows what it contains.
 * Line feeds and tabs stay. Use it for display only; stored text is never changed.
 */
export const escapeHidden = (text: string): string => text.replace(hidden, escapeChar)

/** There are a few hundred hidden characters; a text may hold millions of one. */
const escapes = new Map<string, string>()

function escapeChar(char: string): string {
  const known = escapes.get(char)
  if (known !== undefined) return known
  const escaped = `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
  escapes.set(char, escaped)
  return escaped
}

/** Does the same for a single line: also escapes line feeds and tabs. */
export const escapeLine = (text: string): string => escapeHidden(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')

/**
 * Does the same for a JSON document with JSON's own escapes, so that its value does not change. A character above U+FFFF
 * takes two escapes.
 */
export const escapeHiddenInJson = (json: string): string =>
  json.replace(hidden, (char) => char.split('').map(unitEscape).join(''))

const unitEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
