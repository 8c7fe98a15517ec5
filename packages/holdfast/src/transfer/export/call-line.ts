import type { CallView } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'

/** What a call is, on one line: the tool and what it was given. */
export const callLine = (tool: string, args: Readonly<Record<string, unknown>>): string =>
  `${escapeLine(tool)} ${escapeLine(JSON.stringify(args))}`

/** What became of a call: `complete, 12 ms, approved by cli`. */
export function callFate({ status, durationMs, approvedBy }: CallView): string {
  const parts = [status.replace('_', ' '), ...(durationMs === null ? [] : [`${Math.round(durationMs)} ms`])]
  if (approvedBy !== null && 'client' in approvedBy) parts.push(`approved by ${approvedBy.client ?? 'a person'}`)
  if (approvedBy !== null && 'rule' in approvedBy) parts.push(`allowed by ${approvedBy.rule}`)
  return escapeLine(parts.join(', '))
}
