import type { Fault, Result, StorageError } from '@holdfast/protocol'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store/store.ts'
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

type StorageHealthDeps = {
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

export function createStorageHealth(deps: StorageHealthDeps): StorageHealth {
  const prober = createProber(deps)
  return { join: (report) => joinSession(prober, deps.clock, report) }
}

type Prober = ReturnType<typeof createProber>

/** Probes the store while it refuses a session, and learns whether it refuses all of them. */
function createProber({ store, clock, inBackground }: StorageHealthDeps) {
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

  return {
    storeError: () => storeError,
    join: (one: Watched) => void joined.add(one),
    leave(one: Watched): void {
      joined.delete(one)
      failing.delete(one)
      probedFor.delete(one)
      if (joined.size === 0) storeError = null
      schedule()
    },
    /** Notes that the store accepts writes of the session again. */
    accepted(one: Watched): void {
      failing.delete(one)
      schedule()
    },
    /** Notes that the store refused a write of the session. */
    refused(one: Watched): void {
      probedFor.delete(one)
      failing.add(one)
    },
    /** Probes at once after the first refusal; a session is cleared only by a later probe. */
    probeSoon(): void {
      if (!isProbing && cancel === null) probe([])
    },
  }
}

function joinSession(prober: Prober, clock: Clock, report: (error: StorageError | null) => void): SessionStorage {
  const pauses = createPauses(clock)
  let own: StorageError | null = null
  let reported = prober.storeError()
  let repeating = 0
  let hasLeft = false

  const current = () => own ?? prober.storeError()
  const watched: Watched = {
    isRepeating: () => repeating > 0,
    clear() {
      own = null
      prober.accepted(watched)
    },
    show() {
      const next = current()
      const isSame = next?.reason === reported?.reason && next?.message === reported?.message
      reported = next
      if (!isSame) report(next)
    },
  }
  prober.join(watched)

  function track<Value>(written: Result<Value>): Result<Value> {
    if (hasLeft || (written.ok && reported === null && own === null)) return written
    const why = written.ok ? null : storageErrorOf(written.fault)
    if (why) {
      prober.refused(watched)
      own = why
      watched.show()
      prober.probeSoon()
      // A repeated write may be larger than this one: the error stays until that write succeeds.
    } else if (written.ok && repeating === 0) {
      watched.clear()
      watched.show()
    }
    return written
  }

  return {
    get error() {
      return current()
    },
    track,
    async insist(write) {
      let written = track(await write())
      if (!isRefusedByDisk(written)) return written
      repeating += 1
      try {
        while (isRefusedByDisk(written) && !hasLeft) {
          await pauses.begin()
          written = track(await write())
        }
      } finally {
        repeating -= 1
      }
      return track(written)
    },
    leave() {
      hasLeft = true
      prober.leave(watched)
      pauses.endAll()
    },
  }
}

/** Creates the pauses between the repeats of a write. All of them can be ended early. */
function createPauses(clock: Clock) {
  const waiting = new Set<() => void>()
  return {
    begin: () =>
      new Promise<void>((resolve) => {
        const end = () => {
          cancel()
          waiting.delete(end)
          resolve()
        }
        // A turn waits for the write: the process must not end as if nothing were left to do.
        const cancel = clock.after(repeatEveryMs, end, { keepsAlive: true })
        waiting.add(end)
      }),
    endAll(): void {
      for (const end of [...waiting]) end()
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
export const withNotAccepted = (fault: Fault): Fault =>
  fault.code === 'storage_error'
    ? {
        ...fault,
        message: `${fault.message} Your command was not accepted. Send it again when the store works.`,
        details: { ...fault.details, isCommandRefused: true },
      }
    : fault
