const fence = /^ {0,3}(`{3,}|~{3,})/
const reference = /(?<=^|[ \t])@([^\s`]+)/g
const trailing = /[.,;:!?)\]]+$/

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
      found.add(path)
      found.add(path.replace(trailing, ''))
    }
  }
  found.delete('')
  return [...found]
}

const withoutCodeSpans = (line: string): string => line.replace(/(`+)[^`]*\1/g, (span) => 'x'.repeat(span.length))

/** Leaves out comments that stand on lines of their own: they are notes for people. */
export const withoutComments = (text: string): string => text.replace(/^[ \t]*<!--[\s\S]*?-->[ \t]*\n?/gm, '')
