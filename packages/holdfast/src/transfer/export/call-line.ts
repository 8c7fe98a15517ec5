import { approvalText, type CallView } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'

/** Formats a call on one line: the tool and its arguments. */
export const formatCall = (tool: string, args: Readonly<Record<string, unknown>>): string =>
  `${escapeLine(tool)} ${escapeLine(JSON.stringify(args))}`

/** Formats the status of a call: `complete, 12 ms, approved by cli`. */
export function formatCallStatus({ status, durationMs, approvedBy }: CallView): string {
  const parts = [status.replace('_', ' '), ...(durationMs === null ? [] : [`${Math.round(durationMs)} ms`])]
  if (approvedBy !== null) parts.push(approvalText(approvedBy))
  return escapeLine(parts.join(', '))
}
