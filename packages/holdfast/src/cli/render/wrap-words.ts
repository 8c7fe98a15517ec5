/** Breaks a text at its spaces into lines of at most `width` characters. A longer word has a line of its own. */
export function wrapWords(text: string, width: number): readonly string[] {
  const broken: string[] = []
  for (const word of text.split(' ')) {
    const line = broken.at(-1)
    if (line === undefined || charsOf(line) + 1 + charsOf(word) > width) broken.push(word)
    else broken[broken.length - 1] = `${line} ${word}`
  }
  return broken
}

/** Counts code points. Most text has no surrogates, and a list may have thousands of lines. */
export const charsOf = (text: string): number => (/[\ud800-\udfff]/.test(text) ? [...text].length : text.length)
