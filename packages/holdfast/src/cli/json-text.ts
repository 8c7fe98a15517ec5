// What JSON leaves as it is, though a terminal would obey it or an eye could not see it.
const hidden = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** JSON that is harmless on a terminal and loses nothing: what is hidden stands as its escape. */
export const toJsonText = (value: unknown): string =>
  JSON.stringify(value).replace(hidden, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
