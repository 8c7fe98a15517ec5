import type { ChildView, SessionId } from '@holdfast/protocol'
import type { SessionRunner } from '../runner/session-runner.ts'
import { childViewOf, isAbove, isRunning, isSameView } from './child-view.ts'

/** The subagents that ran in this process, until the session at the top of their tree is unloaded. At most 64 a tree. */
export function createKnownChildren(loaded: (id: SessionId) => SessionRunner | null) {
  const children = new Map<SessionId, { readonly root: SessionId; view: ChildView }>()
  const waiters = new Map<SessionId, Set<() => void>>()
  const parentOf = (id: SessionId): SessionId | undefined =>
    children.get(id)?.view.parent ?? loaded(id)?.folded().row.entry.meta.parent
  const below = (above: SessionId): readonly ChildView[] =>
    [...children.values()].flatMap(({ view }) => (isAbove(parentOf, above, view.id) ? [view] : []))

  function wake(id: SessionId): void {
    for (const resolve of waiters.get(id) ?? []) resolve()
  }

  /** Tells the clients of all sessions above a subagent what changed. */
  function publish(view: ChildView): void {
    for (let id: SessionId | undefined = view.parent; id !== undefined; id = children.get(id)?.view.parent)
      loaded(id)?.hub.showChild(view)
  }

  return {
    /** Returns the subagents below a session, oldest first. */
    below,
    /** Returns those of a tree whose work goes on. */
    runningIn: (root: SessionId): readonly ChildView[] =>
      [...children.values()].flatMap((one) => (one.root === root && isRunning(one.view) ? [one.view] : [])),
    /** Whether a session is above a subagent. */
    isAbove: (above: SessionId, id: SessionId) => isAbove(parentOf, above, id),
    /** Notes a change of a session, if it is a subagent. */
    afterChange(runner: SessionRunner): void {
      const { state, row } = runner.folded()
      const { subagent } = row.entry.meta
      if (!subagent) return
      const view = state.turns === 0 ? null : childViewOf(state, row.entry.meta) // it has no task yet
      const known = children.get(runner.id)
      if (view && !(known && isSameView(known.view, view))) {
        children.set(runner.id, { root: subagent.root, view })
        publish(view)
      }
      wake(runner.id)
    },
    /** Notes that a session left this process. With the top of a tree all its subagents are forgotten. */
    afterGone(id: SessionId, isUnloaded: boolean): void {
      for (const [child, { root }] of children) if (isUnloaded && root === id) children.delete(child)
      wake(id)
    },
    /** Resolves at the next change of a session, or when `signal` aborts. */
    changed(id: SessionId, signal: AbortSignal): Promise<void> {
      return new Promise((resolve) => {
        const done = () => {
          waiters.get(id)?.delete(done)
          if (waiters.get(id)?.size === 0) waiters.delete(id)
          signal.removeEventListener('abort', done)
          resolve()
        }
        const waiting = waiters.get(id) ?? new Set()
        waiters.set(id, waiting.add(done))
        signal.addEventListener('abort', done, { once: true })
        if (signal.aborted) done()
      })
    },
  }
}

export type KnownChildren = ReturnType<typeof createKnownChildren>
