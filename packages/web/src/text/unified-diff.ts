export type DiffLine = {
  readonly kind: 'file' | 'hunk' | 'added' | 'removed' | 'same' | 'note'
  readonly text: string
}

const hunkHead = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/
const fileHead = /^(?:--- |\+\+\+ |diff |index |Index: |={10,}|new file |deleted file |rename |similarity )/

/**
 * Parses a unified diff into lines with their kind. Inside a hunk the line counts decide: a removed line that begins with
 * `--` must not look like a file name to a person who approves it.
 */
export function parseDiff(diff: string): readonly DiffLine[] {
  let removedLeft = 0
  let addedLeft = 0
  const lines = diff.endsWith('\n') ? diff.slice(0, -1).split('\n') : diff.split('\n')
  return lines.map((text): DiffLine => {
    if (removedLeft > 0 || addedLeft > 0) {
      const kind = kindByMark(text)
      if (kind === 'removed' || kind === 'same') removedLeft--
      if (kind === 'added' || kind === 'same') addedLeft--
      return { kind, text }
    }
    const head = hunkHead.exec(text)
    if (head) {
      removedLeft = Number(head[1] ?? 1)
      addedLeft = Number(head[2] ?? 1)
      return { kind: 'hunk', text }
    }
    return { kind: fileHead.test(text) ? 'file' : kindByMark(text), text }
  })
}

function kindByMark(text: string): DiffLine['kind'] {
  if (text.startsWith('+')) return 'added'
  if (text.startsWith('-')) return 'removed'
  if (text.startsWith('\\')) return 'note'
  return 'same'
}

/** Counts added and removed lines. */
export function diffCounts(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length
  return { added: count('added'), removed: count('removed') }
}
