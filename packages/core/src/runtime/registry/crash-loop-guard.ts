import { type Fault, fault, type SessionId } from '@holdfast/protocol'
import type { Clock } from '../../ports/clock.ts'

const restartsMax = 3
const withinMs = 60_000

type Broken = { readonly atMs: number[]; readonly cause: string }

/** Counts the crashes of each session, so that one that keeps crashing is not restarted again. */
export function createCrashLoopGuard(clock: Clock) {
  const broken = new Map<SessionId, Broken>()
  const recent = (id: SessionId): Broken | null => {
    const one = broken.get(id)
    const atMs = one?.atMs.filter((at) => clock.now() - at < withinMs) ?? []
    if (!one || atMs.length === 0) {
      broken.delete(id)
      return null
    }
    return { ...one, atMs }
  }
  return {
    /** Records a crash and returns whether the session may be restarted. */
    note(id: SessionId, cause: string): boolean {
      const before = recent(id)
      broken.set(id, { atMs: [...(before?.atMs ?? []), clock.now()], cause: before?.cause ?? cause })
      return this.refusal(id) === null
    },
    /** Returns a fault with the first cause if the session crashed too often. */
    refusal(id: SessionId): Fault | null {
      const one = recent(id)
      if (!one || one.atMs.length <= restartsMax) return null
      const message = `Session ${id} crashed ${one.atMs.length} times within a minute and was stopped. First cause: ${one.cause}`
      return fault('session_stopped', message, { reason: 'restart_exhausted', cause: one.cause })
    },
  }
}
