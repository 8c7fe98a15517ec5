import type { CommandInput } from '@holdfast/protocol'
import { parseLines } from './line-range.ts'

export const boundaryUsage =
  '/boundaries <file> <lines> sets one, such as /boundaries a.ts 3-9. /boundaries clear [<file>] removes it.'

/** Returns the command that `/boundaries` with these words stands for; a sentence if it stands for none. */
export function boundaryCommand(given: string): CommandInput | string {
  const [, path = ''] = /^clear(?:\s+(.+))?$/.exec(given) ?? []
  if (/^clear(?:\s|$)/.test(given))
    return path === '' ? { type: 'clearAllBoundaries' } : { type: 'clearBoundary', path }
  const [, file = '', lines = ''] = /^(.+?)\s+(\S+)$/.exec(given) ?? []
  const range = parseLines(lines)
  return range === null ? boundaryUsage : { type: 'setBoundary', path: file, ...range }
}
