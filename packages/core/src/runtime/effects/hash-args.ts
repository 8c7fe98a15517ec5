import { createHash } from 'node:crypto'
import { BlobHash } from '@holdfast/protocol'
import type { ToolArgs } from '../../ports/tool.ts'

/** What an approval binds: the tool and its arguments, whatever the order of their names. */
export function hashArgs(tool: string, args: ToolArgs): BlobHash {
  return BlobHash.parse(
    createHash('sha256')
      .update(JSON.stringify([tool, sorted(args)]))
      .digest('hex'),
  )
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)])
}
