import { z } from 'zod'
import { Seq } from './id.ts'

/** A range of seqs, both inclusive. Only the last span of a line may be open: new messages are added to it. */
export const Span = z.object({ from: Seq, to: Seq.nullable() })
export type Span = z.infer<typeof Span>

/** The current messages of a session as seq spans. Branches share history; it is never copied. */
export const Line = z.array(Span).min(1)
export type Line = z.infer<typeof Line>

export const isOnLine = (line: Line, seq: Seq): boolean =>
  line.some(({ from, to }) => seq >= from && (to === null || seq <= to))

/** Returns the spans of `line` within `from..to`, both inclusive, oldest first. */
export function clipLine(line: Line, from: Seq, to: Seq): readonly { readonly from: Seq; readonly to: Seq }[] {
  return line.flatMap((span) => {
    const start = Math.max(span.from, from)
    const end = Math.min(span.to ?? to, to)
    return start <= end ? [{ from: start, to: end }] : []
  })
}

/** Returns the first seq of `line` that is not on `other`; null when all are. */
export function findDivergence(line: Line, other: Line): Seq | null {
  for (const { from, to } of line) {
    let next = from
    for (const { from: start, to: end } of other)
      if (start <= next && next <= (end ?? next)) next = (end ?? Infinity) + 1
    if (next <= (to ?? Infinity) && next !== Infinity) return next
  }
  return null
}
