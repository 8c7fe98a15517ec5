import type { After } from './after.ts'
import type { Gate } from './gate.ts'
import { livingMembers, signalGroup } from './process-group.ts'

/** How long output may still come once the command itself has ended. */
const drainMs = 100
/** How long a command may take over its last words once its time is up. */
const lastWordsMs = 1000
/** A process that waits for a broken disk dies only when the disk answers. */
const looksMax = 100

export type Ending =
  | { readonly type: 'exited'; readonly code: number }
  | { readonly type: 'killed' }
  | { readonly type: 'timed out' }
  | { readonly type: 'aborted' }

export type Supervision = {
  /** How it ended, decided once. By then, or shortly after, the output ends too. */
  readonly ending: Promise<Ending>
  /** Kills what is left of the group and waits until none of it runs. */
  close(): Promise<void>
}

/** Sees to it that a running command ends: by itself, by its time, or by abort. */
export function supervise(gate: Gate, options: SuperviseOptions): Supervision {
  const { after, timeoutMs, signal } = options
  const { group } = gate.mark
  const ending = Promise.withResolvers<Ending>()
  const timers: (() => void)[] = []
  let isGone = false
  // Only while the leader is uncollected is its number surely its group's.
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

/** A killed process dies when it is next scheduled, which is soon but not at once. */
async function untilDead(group: number): Promise<void> {
  for (let look = 0; look < looksMax; look++) if ((await livingMembers(group)).length === 0) return
}

export type SuperviseOptions = {
  readonly after: After
  readonly timeoutMs: number
  readonly signal: AbortSignal
}
