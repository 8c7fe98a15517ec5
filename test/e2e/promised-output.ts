import { expect } from 'vitest'

const gap = '…'

/** Turns an output that a guide promises into what a test expects: `…` stands for anything. */
export function fillGaps(promised: string): RegExp
export function fillGaps(promised: unknown): object
export function fillGaps(promised: unknown): unknown {
  if (promised === gap) return expect.anything()
  if (typeof promised === 'string') return new RegExp(promised.split(gap).map(RegExp.escape).join('[\\s\\S]*'))
  return fill(promised)
}

function fill(promised: unknown): unknown {
  if (promised === gap) return expect.anything()
  if (Array.isArray(promised)) return promised.map(fill)
  if (typeof promised !== 'object' || promised === null) return promised
  return Object.fromEntries(Object.entries(promised).map(([key, value]) => [key, fill(value)]))
}
