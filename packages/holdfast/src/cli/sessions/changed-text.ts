import type { Answer } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'

/** Says where messages are saved, and where the session goes on, after it went back to the end of a turn. */
export const continuedText = (saved: string, turn: number): string =>
  `Saved the messages so far as ${saved}. The session continues from the end of turn ${turn}.`

/** Says the same after `/branch` or `/rewind`, where no screen is drawn anew. Null for any other prompt. */
export function movedText(prompt: string, { result }: Answer): string | null {
  const { ran, branch }: Record<string, unknown> = { ...result }
  const [, turn] = /^\/(?:branch|rewind)\s+(\d+)\s*$/.exec(prompt.trimStart()) ?? []
  if ((ran !== 'branch' && ran !== 'rewind') || turn === undefined || typeof branch !== 'string') return null
  return continuedText(escapeLine(branch), Number(turn))
}

/** Says what a slash command of the session changed, if nothing else on the screen shows it. Null for any other prompt. */
export function changedText({ result }: Answer): string | null {
  const { ran, pinned, title }: Record<string, unknown> = { ...result }
  if (ran === 'pin') return pinned ? 'Pinned: the session is listed first and is not pruned.' : 'No longer pinned.'
  return ran === 'rename' ? `The title is now: ${escapeLine(String(title))}` : null
}
