import type { LineRange } from '@holdfast/protocol'

/** The chosen lines: the one chosen first, and the one chosen last. Both count from 0, as edit boundaries do. */
export type LineSelection = { readonly anchor: number; readonly end: number }

/** Returns the chosen lines, first and last. */
export const rangeOf = ({ anchor, end }: LineSelection): LineRange => ({
  start: Math.min(anchor, end),
  end: Math.max(anchor, end),
})

/** Chooses a line; with `isExtending` all lines from the first chosen one to it. */
export const chooseLine = (chosen: LineSelection | null, line: number, isExtending: boolean): LineSelection =>
  isExtending && chosen ? { ...chosen, end: line } : { anchor: line, end: line }

/** Chooses by touch, where there is no Shift: one tap chooses a line, the next one the other end, a third one starts again. */
export function tapLine(chosen: LineSelection | null, line: number): LineSelection | null {
  if (chosen?.anchor !== chosen?.end) return chooseLine(null, line, false)
  return chosen?.end === line ? null : chooseLine(chosen, line, true)
}

/** Sets the first or the last chosen line to a number that a person typed, counted from 1. The other end gives way. */
export function typeLine(
  chosen: LineSelection | null,
  which: 'first' | 'last',
  typed: string,
  lines: number,
): LineSelection | null {
  const number = Number(typed)
  if (!Number.isInteger(number) || number < 1 || lines === 0) return chosen
  const line = Math.min(number, lines) - 1
  const { start, end } = chosen ? rangeOf(chosen) : { start: line, end: line }
  return which === 'first' ? { anchor: line, end: Math.max(line, end) } : { anchor: Math.min(start, line), end: line }
}

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }

/** Returns the line that a key moves to; null for other keys. Without a line yet, the first key goes to the first line. */
export function lineAfterKey(key: string, line: number | null, lines: number): number | null {
  if (key === 'Home') return 0
  if (key === 'End') return lines - 1
  const step = steps[key]
  if (step === undefined) return null
  return line === null ? 0 : Math.max(0, Math.min(lines - 1, line + step))
}
