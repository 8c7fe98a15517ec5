import type { Clock } from '@holdfast/core/ports'
import type { VirtualClock } from '@holdfast/testkit'

/** A simulated process. While it is paused nothing of it runs; what was due runs when it wakes. A killed one never runs again. */
export type SimProcess = {
  readonly status: 'running' | 'paused' | 'dead'
  /** Its own clock, which is wrong by a constant. */
  readonly clock: Clock
  /** When it last woke up, by the clock of the database; 0 if it never slept. */
  readonly wokeAtMs: number
  /** Runs a call of the world in this process: at once, when it wakes, or never. */
  run(call: () => void): void
  pause(): void
  wake(): void
  kill(): void
  /** Calls back when the process is killed. */
  onDeath(call: () => void): void
}

/** Creates a process. `clock` is that of the database, which is the only one that all agree on. */
export function createSimProcess(clock: VirtualClock, skewMs: number): SimProcess {
  let status: SimProcess['status'] = 'running'
  let wokeAtMs = 0
  let held: (() => void)[] = []
  const deathListeners: (() => void)[] = []

  const run = (call: () => void): void => {
    if (status === 'running') call()
    if (status === 'paused') held.push(call)
  }
  return {
    get status() {
      return status
    },
    get wokeAtMs() {
      return wokeAtMs
    },
    clock: {
      now: () => clock.now() + skewMs,
      after(delayMs, call) {
        let isCancelled = false
        const cancel = clock.after(delayMs, () => run(() => isCancelled || call()))
        return () => {
          isCancelled = true
          cancel()
        }
      },
    },
    run,
    pause() {
      if (status === 'running') status = 'paused'
    },
    wake() {
      if (status !== 'paused') return
      status = 'running'
      wokeAtMs = clock.now()
      const due = held
      held = []
      for (const call of due) run(call)
    },
    kill() {
      status = 'dead'
      held = []
      for (const call of deathListeners) call()
    },
    onDeath: (call) => void deathListeners.push(call),
  }
}
