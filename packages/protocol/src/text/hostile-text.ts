// C0 and C1 controls, bidirectional overrides and isolates, zero-width and format marks, line separators, the
// byte-order mark, and the tag characters, which spell whole sentences that only a model reads.
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

export const hasHiddenChars = (text: string): boolean => text.search(hidden) !== -1

/**
 * Text from outside, made harmless for a terminal and honest for an eye: what cannot be seen is spelled out.
 * Line feeds and tabs stay. What is stored is never changed, only what is shown.
 */
export const escapeHidden = (text: string): string =>
  text.replace(hidden, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)

/** The same for one line of a list or a header: line feeds and tabs are spelled out as well. */
export const escapeLine = (text: string): string => escapeHidden(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')

/**
 * The same for a JSON document, which loses nothing by it: what is hidden stands as JSON's own escape. Above U+FFFF that
 * takes two, one for each half.
 */
export const escapeHiddenInJson = (json: string): string =>
  json.replace(hidden, (char) => char.split('').map(unitEscape).join(''))

const unitEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
