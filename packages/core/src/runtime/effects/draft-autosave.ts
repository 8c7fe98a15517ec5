import { limits } from '@holdfast/protocol'
import type { Clock } from '../../ports/clock.ts'
import type { Draft } from '../../ports/store.ts'

/** Saves a growing answer at most once a second, so that a crash costs at most a second of it. */
export interface DraftAutosave {
  touch(): void
  stop(): void
}

export function createDraftAutosave(
  clock: Clock,
  draft: () => Draft | null,
  save: (draft: Draft) => Promise<unknown>,
): DraftAutosave {
  let cancel: (() => void) | null = null
  let isStopped = false
  return {
    touch() {
      if (cancel || isStopped) return
      cancel = clock.after(limits.draftSaveMs, () => {
        const now = isStopped ? null : draft()
        const saved = now ? save(now) : Promise.resolve()
        const again = () => {
          cancel = null
        }
        saved.then(again, again) // a draft that could not be saved is tried again with the next fragment
      })
    },
    stop() {
      isStopped = true
      cancel?.()
    },
  }
}
