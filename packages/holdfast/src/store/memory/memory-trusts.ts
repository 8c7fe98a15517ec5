import type { TrustChange } from '@holdfast/core/ports'
import { addTrust, type Trust } from '@holdfast/protocol'

/** What each workspace trusts, in the order a disk would give it back: by tool, for any arguments before exact ones. */
export function createMemoryTrusts() {
  const byWorkspace = new Map<string, readonly Trust[]>()
  const of = (workspace: string): readonly Trust[] => byWorkspace.get(workspace) ?? []

  return {
    of: (workspace: string): readonly Trust[] => structuredClone(of(workspace).toSorted(byToolThenHash)),
    apply(workspace: string, change: TrustChange): void {
      byWorkspace.set(workspace, changed(of(workspace), change))
    },
  }
}

function changed(known: readonly Trust[], change: TrustChange): readonly Trust[] {
  if (change.type === 'granted') return addTrust(known, change.trust)
  return change.tool === null ? [] : known.filter(({ tool }) => tool !== change.tool)
}

function byToolThenHash(left: Trust, right: Trust): number {
  if (left.tool !== right.tool) return left.tool < right.tool ? -1 : 1
  return (left.argsHash ?? '') < (right.argsHash ?? '') ? -1 : 1
}
