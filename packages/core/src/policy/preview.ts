import { escapeHidden, type Preview } from '@holdfast/protocol'

/**
 * Returns a preview with hidden characters escaped, so that no interface has to. The arguments that the hash covers
 * stay unchanged.
 */
export function toShow(preview: Preview): Preview {
  switch (preview.type) {
    case 'command':
      return { ...preview, command: escapeHidden(preview.command), cwd: escapeHidden(preview.cwd) }
    case 'diff':
      return { ...preview, path: escapeHidden(preview.path), diff: escapeHidden(preview.diff) }
    case 'arguments':
      return { ...preview, args: spelledOut(preview.args) }
    case 'question':
      return spelledOut(preview)
  }
}

/** Whether two previews show the same change. The lines may have moved within the file. */
export const isSameChange = (one: Preview, other: Preview): boolean => comparable(one) === comparable(other)

const comparable = (preview: Preview): string =>
  JSON.stringify(preview.type === 'diff' ? { ...preview, diff: preview.diff.replace(/^@@ .*$/gm, '@@') } : preview)

function spelledOut<Value>(value: Value): Value
function spelledOut(value: unknown): unknown {
  if (typeof value === 'string') return escapeHidden(value)
  if (Array.isArray(value)) return value.map((one) => spelledOut(one))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [escapeHidden(name), spelledOut(inner)]))
}
