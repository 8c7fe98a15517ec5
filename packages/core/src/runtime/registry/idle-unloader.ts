import type { SessionId } from '@holdfast/protocol'
import type { Clock } from '../../ports/clock.ts'
import type { BackgroundWork } from '../../ports/tool.ts'
import type { SessionRunner } from '../runner/session-runner.ts'

type IdleDeps = {
  readonly clock: Clock
  readonly idleMs: number
  readonly background: BackgroundWork | undefined
}

/** Unloads sessions that are idle, have no client, and run nothing in the background. */
export function createIdleUnloader({ clock, idleMs, background }: IdleDeps, unload: (id: SessionId) => void) {
  const isIdle = (runner: SessionRunner) => isResting(runner) && (background?.running(runner.id).length ?? 0) === 0
  const cancels = new Map<SessionId, () => void>()
  const forget = (id: SessionId) => {
    cancels.get(id)?.()
    cancels.delete(id)
  }
  return {
    /** Restarts the session's idle timer, or cancels it while the session is in use. */
    afterChange(runner: SessionRunner): void {
      const { id } = runner
      forget(id)
      if (!isIdle(runner)) return
      const cancel = clock.after(idleMs, () => {
        cancels.delete(id)
        if (isIdle(runner)) unload(id)
      })
      cancels.set(id, cancel)
    },
    forget,
  }
}

function isResting({ hub, folded, isWriting }: SessionRunner): boolean {
  const { turn, queue, children } = folded().state
  const hasChildren = children.length > 0 // their results come here
  return (
    !hasChildren && hub.size === 0 && hub.attached === 0 && !isWriting() && turn.phase === 'idle' && queue.length === 0
  )
}
