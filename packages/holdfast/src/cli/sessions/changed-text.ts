import type { Answer } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'

/** Says what a slash command of the session changed, if nothing else on the screen shows it. Null for any other prompt. */
export function changedText({ result }: Answer): string | null {
  const { ran, pinned, title }: Record<string, unknown> = { ...result }
  if (ran === 'pin') return pinned ? 'Pinned: the session is listed first and is not pruned.' : 'No longer pinned.'
  return ran === 'rename' ? `The title is now: ${escapeLine(String(title))}` : null
}
