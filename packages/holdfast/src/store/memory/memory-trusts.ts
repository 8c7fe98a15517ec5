import type { TrustChange } from '@holdfast/core/ports'
import { addTrust, type Trust } from '@holdfast/protocol'

/** Returns the trusts of a workspace after a change. */
export function applyTrustChange(known: readonly Trust[], change: TrustChange): readonly Trust[] {
  if (change.type === 'granted') return addTrust(known, change.trust)
  return change.tool === null ? [] : known.filter(({ tool }) => tool !== change.tool)
}

/** Sorts by tool; trust for any arguments comes before trust for exact ones. */
export function compareTrusts(left: Trust, right: Trust): number {
  if (left.tool !== right.tool) return left.tool < right.tool ? -1 : 1
  return (left.argsHash ?? '') < (right.argsHash ?? '') ? -1 : 1
}
