import type { LineRange } from '@holdfast/protocol'

/** Parses lines as people count them, from 1: `3-9`, or `3` for one line. Null if it is something else. */
export function parseLines(text: string): LineRange | null {
  const [, first = '', last = first] = /^([1-9]\d{0,8})(?:[-\u2013]([1-9]\d{0,8}))?$/.exec(text) ?? []
  if (first === '' || Number(last) < Number(first)) return null
  return { start: Number(first) - 1, end: Number(last) - 1 }
}
