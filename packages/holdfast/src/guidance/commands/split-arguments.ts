/**
 * Splits what a person typed after a slash command into words. Quotes group words only around a whole one, so that an
 * apostrophe in `it's` stays.
 */
export function splitArguments(given: string): readonly string[] {
  const words: string[] = []
  for (const [, quoted, quotedOnce, plain] of given.matchAll(/"([^"]*)"(?=\s|$)|'([^']*)'(?=\s|$)|(\S+)/g))
    words.push(quoted ?? quotedOnce ?? plain ?? '')
  return words
}
