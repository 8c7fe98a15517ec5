import type { After } from './after.ts'
import type { Gate } from './gate.ts'
import { livingMembers, signalGroup } from './process-group.ts'

/** How long output may still come once the command itself has ended. */
const drainMs = 100
/** How long a command may still write after SIGTERM. */
const lastWordsMs = 1000
/** A process that waits for a broken disk dies only when the disk answers, so the wait is limited. */
const looksMax = 100

export type Ending =
  | { readonly type: 'exited'; readonly code: number }
  | { readonly type: 'killed' }
  | { readonly type: 'timed out' }
  | { readonly type: 'aborted' }

export type Supervision = {
  /** How the command ended. The output ends at about the same time. */
  readonly ending: Promise<Ending>
  /** Kills the rest of the group and waits until it is dead. */
  close(): Promise<void>
}

/** Ends a running command at its exit, its timeout or an abort, whichever comes first. */
export function supervise(gate: Gate, options: SuperviseOptions): Supervision {
  const { after, timeoutMs, signal } = options
  const { group } = gate.mark
  const ending = Promise.withResolvers<Ending>()
  const timers: (() => void)[] = []
  let isGone = false
  // The group id is surely ours only until the leader is reaped.
  const kill = () => {
    if (!isGone) signalGroup(group, 'SIGKILL')
  }
  const abort = () => {
    kill()
    ending.resolve({ type: 'aborted' })
  }

  timers.push(
    after(timeoutMs, () => {
      ending.resolve({ type: 'timed out' })
      if (!isGone) signalGroup(group, 'SIGTERM')
      timers.push(after(lastWordsMs, kill))
    }),
  )
  void gate.gone.then(() => {
    isGone = true
  })
  void gate.exitCode.then((code) => {
    ending.resolve(code === null ? { type: 'killed' } : { type: 'exited', code })
    timers.push(after(drainMs, kill))
  })
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })

  return {
    ending: ending.promise,
    async close() {
      for (const takeBack of timers) takeBack()
      signal.removeEventListener('abort', abort)
      kill()
      await gate.gone
      await untilDead(group)
    },
  }
}

/** Waits until the group is dead: a killed process dies only when it is next scheduled. */
async function untilDead(group: number): Promise<void> {
  for (let look = 0; look < looksMax; look++) if ((await livingMembers(group)).length === 0) return
}

export type SuperviseOptions = {
  readonly after: After
  readonly timeoutMs: number
  readonly signal: AbortSignal
}
