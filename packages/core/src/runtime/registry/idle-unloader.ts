import type { SessionId } from '@holdfast/protocol'
import type { Clock } from '../../ports/clock.ts'
import type { SessionRunner } from '../runner/session-runner.ts'

/** Takes sessions out of memory that nobody attends and that owe nothing; the next touch brings them back. */
export interface IdleUnloader {
  /** Something happened to the session: its time begins anew, or it has none because it is in use. */
  look(runner: SessionRunner): void
  forget(id: SessionId): void
}

export function createIdleUnloader(clock: Clock, idleMs: number, unload: (id: SessionId) => void): IdleUnloader {
  const cancels = new Map<SessionId, () => void>()
  const forget = (id: SessionId) => {
    cancels.get(id)?.()
    cancels.delete(id)
  }
  return {
    look(runner) {
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

function isIdle({ hub, folded, isWriting }: SessionRunner): boolean {
  const { turn, queue } = folded().state
  return hub.size === 0 && !isWriting() && turn.phase === 'idle' && queue.length === 0
}
