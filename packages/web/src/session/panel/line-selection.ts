import type { LineRange } from '@holdfast/protocol'

/** The chosen lines: the one chosen first, and the one chosen last. Both count from 0. */
export type LineSelection = { readonly anchor: number; readonly end: number }

/** Returns the chosen lines, first and last. */
export const rangeOf = ({ anchor, end }: LineSelection): LineRange => ({
  start: Math.min(anchor, end),
  end: Math.max(anchor, end),
})

/** Chooses a line; with `isExtending` all lines from the first chosen one to it. */
export const chooseLine = (chosen: LineSelection | null, line: number, isExtending: boolean): LineSelection =>
  isExtending && chosen ? { ...chosen, end: line } : { anchor: line, end: line }

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }

/** Returns the line that a key moves to; null for other keys. */
export function lineAfterKey(key: string, line: number, lines: number): number | null {
  if (key === 'Home') return 0
  if (key === 'End') return lines - 1
  const step = steps[key]
  return step === undefined ? null : Math.max(0, Math.min(lines - 1, line + step))
}
