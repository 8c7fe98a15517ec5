import type { Fault, Result, StorageError } from '@holdfast/protocol'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'
import type { RunInBackground } from './background-tasks.ts'

/** Whether the store takes what one session writes. */
export interface SessionStorage {
  /** Why it does not; null while it does. */
  readonly error: StorageError | null
  /** Hears how a write of the session went, and gives the answer back. */
  hear<Value>(written: Result<Value>): Result<Value>
  /** Writes what must be written: while the disk refuses, it is offered again until it is taken or refused otherwise. */
  insist<Value>(write: () => Promise<Result<Value>>): Promise<Result<Value>>
  /** The session is let go of here: nothing is offered again, nobody is told. */
  leave(): void
}

/**
 * Knows which sessions of this process the store refuses. Whether it refuses one of them or all is found out by a probe,
 * which is repeated until the store takes writes again, once for all sessions.
 */
export interface StorageHealth {
  /** `tell` hears when the store begins to refuse this session or every one, and when it no longer does. */
  join(tell: (error: StorageError | null) => void): SessionStorage
}

export type StorageHealthDeps = {
  readonly store: Pick<Store, 'probe'>
  readonly clock: Clock
  readonly inBackground: RunInBackground
}

const probeEveryMs = 500
const offerEveryMs = 500

type Watched = {
  /** Something of it is offered again and again: whether that is taken says more than any probe. */
  readonly isOwing: () => boolean
  /** Forgets what was refused of it. */
  readonly clear: () => void
  /** Tells of what has changed, if anything has. */
  readonly show: () => void
}

export function createStorageHealth({ store, clock, inBackground }: StorageHealthDeps): StorageHealth {
  const joined = new Set<Watched>()
  const failing = new Set<Watched>()
  /** Whom the probe under way speaks for: not for whoever was refused after it began. */
  let probedFor = new Set<Watched>()
  /** Why the store refuses everyone: its last probe was refused too. */
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
        probe([...failing].filter((one) => !one.isOwing()))
      })
    }
  }

  function probe(whom: readonly Watched[]): void {
    isProbing = true
    probedFor = new Set(whom)
    inBackground('probing the store', hearProbe())
  }

  async function hearProbe(): Promise<void> {
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

  /** The first refusal is looked into at once, for the others; it takes more than one probe to call it over. */
  function lookInto(): void {
    if (!isProbing && cancel === null) probe([])
  }

  return {
    join(tell) {
      const sleepers = new Set<() => void>()
      let own: StorageError | null = null
      let told = storeError
      let owing = 0
      let hasLeft = false

      const current = () => own ?? storeError
      const watched: Watched = {
        isOwing: () => owing > 0,
        clear() {
          own = null
          failing.delete(watched)
          schedule()
        },
        show() {
          const next = current()
          const isSame = next?.reason === told?.reason && next?.message === told?.message
          told = next
          if (!isSame) tell(next)
        },
      }
      joined.add(watched)

      function refused(why: StorageError): void {
        probedFor.delete(watched)
        failing.add(watched)
        own = why
        watched.show()
        lookInto()
      }
      const pause = () =>
        new Promise<void>((wake) => {
          const over = () => {
            stop()
            sleepers.delete(over)
            wake()
          }
          const stop = clock.after(offerEveryMs, over)
          sleepers.add(over)
        })

      const storage: SessionStorage = {
        get error() {
          return current()
        },
        hear(written) {
          if (hasLeft) return written
          const why = written.ok ? null : storageErrorOf(written.fault)
          if (why) refused(why)
          // What is owed may be greater than what was taken: the flag goes when that is through.
          else if (written.ok && owing === 0) {
            watched.clear()
            watched.show()
          }
          return written
        },
        async insist(write) {
          let written = storage.hear(await write())
          if (!isRefusedByDisk(written)) return written
          owing += 1
          try {
            while (isRefusedByDisk(written) && !hasLeft) {
              await pause()
              written = storage.hear(await write())
            }
          } finally {
            owing -= 1
          }
          return storage.hear(written)
        },
        leave() {
          hasLeft = true
          joined.delete(watched)
          failing.delete(watched)
          probedFor.delete(watched)
          if (joined.size === 0) storeError = null
          schedule()
          for (const wake of [...sleepers]) wake()
        },
      }
      return storage
    },
  }
}

const isRefusedByDisk = (written: Result<unknown>): boolean => !written.ok && written.fault.code === 'storage_error'

/** What a fault says of the store, or null when it says nothing of it. */
export function storageErrorOf({ code, message, details }: Fault): StorageError | null {
  if (code !== 'storage_error') return null
  const reason = details?.['reason']
  return { reason: typeof reason === 'string' ? reason : 'io', message }
}

/** Whoever sent a command that a disk refused still has it, and is told what to do with it. */
export const notTaken = (fault: Fault): Fault =>
  fault.code === 'storage_error'
    ? { ...fault, message: `${fault.message} What you sent was not taken: send it again once that is put right.` }
    : fault
