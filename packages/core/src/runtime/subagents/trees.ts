import { type Budgets, limits, noUsage, type SessionId, type Usage } from '@holdfast/protocol'
import type { SubagentHost } from './host.ts'
import { limitText } from './inherit.ts'
import type { KnownChildren } from './known-children.ts'
import { descendantsOf, sumTreeUsage } from './tree-usage.ts'

/** A place for a subagent. Once it has started it is counted as running by itself. */
export type TakenPlace = { readonly free: (hasStarted: boolean) => void }

/** Counts the subagents of trees. A place is taken before the start is recorded, so that no two calls take the same. */
export function createTrees(host: SubagentHost, known: KnownChildren) {
  /** How many were started for each root, as far as it was asked. */
  const started = new Map<SessionId, number>()
  const starting = new Map<SessionId, number>()

  async function startedFor(root: SessionId): Promise<number> {
    const counted = started.get(root)
    if (counted !== undefined) return counted
    let count = 0
    for await (const { subagent } of descendantsOf(host.rows, root)) {
      if (subagent) count += 1
      if (count >= limits.subagentsMax) break
    }
    const now = started.get(root) // another call may have counted meanwhile
    started.set(root, now ?? count)
    return now ?? count
  }

  const running = (root: SessionId): number => known.runningIn(root).length + (starting.get(root) ?? 0)

  return {
    async count(root: SessionId): Promise<{ readonly running: number; readonly started: number }> {
      const all = await startedFor(root)
      return { running: running(root), started: all }
    },
    /** Takes a place for a new subagent, or says why there is none. */
    async take(root: SessionId, depth: number): Promise<TakenPlace | { readonly refusal: string }> {
      await startedFor(root)
      const all = started.get(root) ?? 0
      const refusal = limitText(depth, running(root), all) // from here on nothing is awaited
      if (refusal) return { refusal }
      started.set(root, all + 1)
      starting.set(root, (starting.get(root) ?? 0) + 1)
      return {
        free(hasStarted) {
          starting.set(root, Math.max(0, (starting.get(root) ?? 1) - 1))
          if (!hasStarted) started.set(root, Math.max(0, (started.get(root) ?? 1) - 1))
        },
      }
    },
    /** Returns the budgets of the session at the top, if it runs here. */
    budgets: (root: SessionId): Budgets | null => host.loaded(root)?.folded().state.settings.budgets ?? null,
    async used(root: SessionId): Promise<Usage> {
      const sum = await sumTreeUsage(host.rows, root)
      return sum.ok ? sum.value.usage : noUsage
    },
    forget(root: SessionId): void {
      started.delete(root)
      starting.delete(root)
    },
  }
}

export type Trees = ReturnType<typeof createTrees>
