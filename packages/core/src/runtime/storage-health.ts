import type { Fault, Result, StorageError } from '@holdfast/protocol'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'
import type { RunInBackground } from './background-tasks.ts'

/** Tracks whether the store accepts the writes of one session. */
export interface SessionStorage {
  /** Why it does not; null while it does. */
  readonly error: StorageError | null
  /** Notes the result of a write and returns it. */
  track<Value>(written: Result<Value>): Result<Value>
  /** Repeats a write while the disk refuses it, until it succeeds or fails for another reason. */
  insist<Value>(write: () => Promise<Result<Value>>): Promise<Result<Value>>
  /** Stops tracking: the session left this process. */
  leave(): void
}

/** Knows which sessions the store refuses. It probes whether all are refused, until the store accepts writes again. */
export interface StorageHealth {
  /** Calls `report` when the store begins or stops refusing this session or all sessions. */
  join(report: (error: StorageError | null) => void): SessionStorage
}

export type StorageHealthDeps = {
  readonly store: Pick<Store, 'probe'>
  readonly clock: Clock
  readonly inBackground: RunInBackground
}

const probeEveryMs = 500
const repeatEveryMs = 500

type Watched = {
  /** A write of the session is being repeated: its result says more than any probe. */
  readonly isRepeating: () => boolean
  /** Forgets the error of the session. */
  readonly clear: () => void
  /** Reports the state if it changed. */
  readonly show: () => void
}

export function createStorageHealth({ store, clock, inBackground }: StorageHealthDeps): StorageHealth {
  const joined = new Set<Watched>()
  const failing = new Set<Watched>()
  /** The sessions that the running probe clears: not those refused after it began. */
  let probedFor = new Set<Watched>()
  /** Why the store refuses every session: its last probe failed too. */
  let storeError: StorageError | null = null
  let isProbing = false
  let cancel: (() => void) | null = null

  function schedule(): void {
    if (failing.size === 0 && storeError === null) {
      cancel?.()
      cancel = null
    } else if (!isProbing) {
      cancel ??= clock.after(probeEveryMs, () => {
        cancel = null
        probe([...failing].filter((one) => !one.isRepeating()))
      })
    }
  }

  function probe(sessions: readonly Watched[]): void {
    isProbing = true
    probedFor = new Set(sessions)
    inBackground('probing the store', runProbe())
  }

  async function runProbe(): Promise<void> {
    try {
      const probed = await store.probe()
      storeError = probed.ok || joined.size === 0 ? null : storageErrorOf(probed.fault)
      if (probed.ok) for (const one of probedFor) one.clear()
      for (const one of joined) one.show()
    } finally {
      isProbing = false
      schedule()
    }
  }

  /** Probes at once after the first refusal; a session is cleared only by a later probe. */
  function probeSoon(): void {
    if (!isProbing && cancel === null) probe([])
  }

  return {
    join(report) {
      const waiting = new Set<() => void>()
      let own: StorageError | null = null
      let reported = storeError
      let repeating = 0
      let hasLeft = false

      const current = () => own ?? storeError
      const watched: Watched = {
        isRepeating: () => repeating > 0,
        clear() {
          own = null
          failing.delete(watched)
          schedule()
        },
        show() {
          const next = current()
          const isSame = next?.reason === reported?.reason && next?.message === reported?.message
          reported = next
          if (!isSame) report(next)
        },
      }
      joined.add(watched)

      function refused(why: StorageError): void {
        probedFor.delete(watched)
        failing.add(watched)
        own = why
        watched.show()
        probeSoon()
      }
      const pause = () =>
        new Promise<void>((wake) => {
          const over = () => {
            stop()
            waiting.delete(over)
            wake()
          }
          const stop = clock.after(repeatEveryMs, over)
          waiting.add(over)
        })

      const storage: SessionStorage = {
        get error() {
          return current()
        },
        track(written) {
          if (hasLeft || (written.ok && reported === null && own === null)) return written
          const why = written.ok ? null : storageErrorOf(written.fault)
          if (why) refused(why)
          // A repeated write may be larger than this one: the error stays until that write succeeds.
          else if (written.ok && repeating === 0) {
            watched.clear()
            watched.show()
          }
          return written
        },
        async insist(write) {
          let written = storage.track(await write())
          if (!isRefusedByDisk(written)) return written
          repeating += 1
          try {
            while (isRefusedByDisk(written) && !hasLeft) {
              await pause()
              written = storage.track(await write())
            }
          } finally {
            repeating -= 1
          }
          return storage.track(written)
        },
        leave() {
          hasLeft = true
          joined.delete(watched)
          failing.delete(watched)
          probedFor.delete(watched)
          if (joined.size === 0) storeError = null
          schedule()
          for (const wake of [...waiting]) wake()
        },
      }
      return storage
    },
  }
}

const isRefusedByDisk = (written: Result<unknown>): boolean => !written.ok && written.fault.code === 'storage_error'

/** Returns the storage error in a fault; null for any other fault. */
export function storageErrorOf({ code, message, details }: Fault): StorageError | null {
  if (code !== 'storage_error') return null
  const reason = details?.['reason']
  return { reason: typeof reason === 'string' ? reason : 'io', message }
}

/** Adds to a storage error that the command was not accepted and can be sent again. */
export const notTaken = (fault: Fault): Fault =>
  fault.code === 'storage_error'
    ? { ...fault, message: `${fault.message} Your command was not accepted. Send it again when the store works.` }
    : fault
