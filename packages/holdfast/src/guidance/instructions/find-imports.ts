const fence = /^ {0,3}(`{3,}|~{3,})/
const reference = /(?<=^|[ \t])@([^\s`]+)/g
const trailing = '.,;:!?)]'
const pathCharsMax = 4096
const importsMax = 200

/**
 * Returns the paths that a text of instructions imports: `@path` at the start of a line or after a space, outside code. A
 * path at the end of a sentence is returned with and without the punctuation. Most are no files: `@team`, for example.
 */
export function findImports(text: string): readonly string[] {
  const found = new Set<string>()
  let open: string | null = null
  for (const line of text.split('\n')) {
    const mark: string | undefined = fence.exec(line)?.[1]
    if (open !== null) {
      if (mark?.startsWith(open)) open = null
      continue
    }
    if (mark !== undefined) {
      open = mark
      continue
    }
    for (const [, path = ''] of withoutCodeSpans(line).matchAll(reference)) {
      if (path.length > pathCharsMax) continue
      found.add(path)
      found.add(withoutPunctuation(path))
    }
    if (found.size > importsMax) break
  }
  found.delete('')
  return [...found].slice(0, importsMax)
}

// A loop: a pattern would take quadratic time for many marks, and strangers write these files.
function withoutPunctuation(path: string): string {
  let end = path.length
  while (end > 0 && trailing.includes(path.charAt(end - 1))) end--
  return path.slice(0, end)
}

const withoutCodeSpans = (line: string): string => line.replace(/(`+)[^`]*\1/g, (span) => 'x'.repeat(span.length))

/** Leaves out comments that begin a line: they are notes for people. In linear time, also if no comment ends. */
export function withoutComments(text: string): string {
  let [kept, from] = ['', 0]
  for (const { 0: mark, index } of text.matchAll(/^[ \t]*<!--/gm)) {
    if (index < from) continue
    const end = text.indexOf('-->', index + mark.length)
    if (end === -1) break
    kept += text.slice(from, index)
    from = end + '-->'.length
    while (text[from] === ' ' || text[from] === '\t') from++
    if (text[from] === '\n') from++
  }
  return kept + text.slice(from)
}
