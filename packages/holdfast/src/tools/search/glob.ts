/** Matches paths like `src/a.ts`. Runs in time linear in the path for each alternative, whatever the pattern. */
export type Glob = (path: string) => boolean

/** `{a,b}` may expand to this many patterns. */
const alternativesMax = 64

/**
 * Compiles a glob: `*` and `?` within a name, `[a-z]`, `{a,b}`, and `**` for any folders. A pattern without `/` matches the
 * name at any depth. Returns null if its braces expand to too many patterns.
 */
export function compileGlob(pattern: string): Glob | null {
  const alternatives = expandBraces(pattern.replace(/^(?:\.\/)+/, '').replace(/(?<!\/)\/+$/, ''))
  if (alternatives === null) return null
  const matchers = alternatives.map((one) => {
    const parts = one.replace(/^\/+/, '').split('/').map(compileName)
    return one.includes('/')
      ? (path: string) => matchAll(parts, path.split('/'), anyFolders, (part, name) => part(name))
      : (path: string) => parts[0]?.(path.slice(path.lastIndexOf('/') + 1)) ?? false
  })
  return (path) => matchers.some((matches) => matches(path))
}

type NameMatcher = (name: string) => boolean

/** `**`: matches any number of folders, also none. */
const anyFolders: NameMatcher = () => true

function compileName(text: string): NameMatcher {
  if (text === '**') return anyFolders
  const parts = parseName(text)
  return (name) => matchAll(parts, [...name], anyText, (part, char) => part !== anyText && part.test(char))
}

const anyText = { test: () => true }
type CharMatcher = { test(char: string): boolean }

/** Parses the pattern of one name into matchers of one character each; `anyText` is a `*`. */
function parseName(text: string): readonly CharMatcher[] {
  const parts: CharMatcher[] = []
  for (const [token] of text.matchAll(/\\.|\[[!^]?\]?[^\]]*\]|./gsu)) {
    if (token === '*') {
      if (parts.at(-1) !== anyText) parts.push(anyText)
    } else if (token === '?') parts.push({ test: () => true })
    else if (token.length > 2 && token.startsWith('[')) parts.push(parseClass(token.slice(1, -1)))
    else {
      const char = token.startsWith('\\') && token.length > 1 ? token.slice(1) : token
      parts.push({ test: (one) => one === char })
    }
  }
  return parts
}

function parseClass(text: string): CharMatcher {
  const isNegated = /^[!^]/.test(text)
  const ranges = [...(isNegated ? text.slice(1) : text).matchAll(/(.)-(.)|(.)/gsu)].map(
    ([, from, to, single]) => [from ?? single ?? '', to ?? single ?? ''] as const,
  )
  return { test: (char) => ranges.some(([from, to]) => from <= char && char <= to) !== isNegated }
}

/**
 * Matches a list of parts against a list of items. `wild` matches any run of items. After a mismatch only the last `wild`
 * is tried again, one item longer: a longer match of an earlier one cannot help.
 */
function matchAll<Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  wild: Part,
  fits: (part: Part, item: Item) => boolean,
): boolean {
  let [part, item, lastWild, triedTo] = [0, 0, -1, 0]
  while (item < items.length) {
    const current = parts[part]
    if (current === wild && part < parts.length) {
      lastWild = part++
      triedTo = item
    } else if (current !== undefined && fits(current, items[item] as Item)) {
      part++
      item++
    } else if (lastWild >= 0) {
      part = lastWild + 1
      item = ++triedTo
    } else return false
  }
  while (parts[part] === wild) part++
  return part === parts.length
}

/** Expands `a{b,c}d` to `abd` and `acd`, also nested. Returns null if there are too many. */
function expandBraces(pattern: string): readonly string[] | null {
  let patterns: readonly string[] = [pattern]
  for (;;) {
    const next = patterns.flatMap(expandFirst)
    if (next.length > alternativesMax) return null
    if (next.length === patterns.length && next.every((one, index) => one === patterns[index])) return patterns
    patterns = next
  }
}

/** Expands the first innermost braces; `{a}` and unbalanced braces stay as they are. */
function expandFirst(pattern: string): readonly string[] {
  const found = /\{([^{}]*,[^{}]*)\}/.exec(pattern)
  if (found === null) return [pattern]
  const [before, after] = [pattern.slice(0, found.index), pattern.slice(found.index + found[0].length)]
  return (found[1] ?? '').split(',').map((choice) => before + choice + after)
}
