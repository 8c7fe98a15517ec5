import { RE2JS } from 're2js'

const namesOnly = /^[\w\-,| ]*$/

/** Whether a matcher of a hook covers a name, such as that of a tool. */
export type Matcher = (name: string) => boolean

/**
 * Reads a matcher. Empty or `*` covers everything; names, several with `|` or `,` between them, cover exactly these; anything
 * else is a regular expression that may match a part of the name. Returns null if it is not one. The expressions run in
 * linear time, because a repository may bring them.
 */
export function createMatcher(text: string): Matcher | null {
  const written = text.trim()
  if (written === '' || written === '*') return () => true
  if (namesOnly.test(written)) {
    const names = new Set(written.split(/[|,]/).map((name) => name.trim()))
    return (name) => names.has(name)
  }
  try {
    const pattern = RE2JS.compile(written)
    return (name) => pattern.matcher(name).find()
  } catch {
    return null
  }
}
