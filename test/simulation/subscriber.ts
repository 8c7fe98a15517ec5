import { isDeepStrictEqual } from 'node:util'
import { viewOf } from '@holdfast/core'
import { addToView, type Frame, type SessionView, type StorageError } from '@holdfast/protocol'
import type { Host, Simulation } from './simulation.ts'

/** A client that follows a session, reconnects with its cursor and checks every frame. */
export type Subscriber = {
  readonly seen: readonly number[]
  cursor(): number
  /** The storage error reported by the current process; null if it follows another process or none. */
  storageError(): StorageError | null
  isConnected(): boolean
  connect(): void
  disconnect(): void
}

/** Creates a subscriber. With a name it attaches in a random role. */
export function createSubscriber(
  { host, durableLog, scheduler, dice }: Simulation,
  client: string | null = null,
): Subscriber {
  const seen: number[] = []
  const own = { node: 'a client', status: 'living' as const }
  let cursor: number | null = null
  let view: SessionView | null = null
  let connection: AbortController | null = null
  let storageError: StorageError | null = null
  let followed: Host | null = null
  const complain = (problem: string) => void durableLog.violations.push(`a subscriber: ${problem}`)

  function take(frame: Frame): void {
    if (frame.type === 'presence') {
      const drivers = frame.clients.filter(({ role }) => role === 'driver').length
      const names = new Set(frame.clients.map((one) => one.client)).size
      if (drivers > 1 || names < frame.clients.length) complain(`wrong clients: ${JSON.stringify(frame.clients)}`)
    }
    if (frame.type === 'storage') storageError = frame.error
    if (frame.type === 'snapshot') {
      storageError = frame.here?.storageError ?? null
      if (cursor !== null) complain(`a second snapshot at ${frame.seq}, with cursor ${cursor}`)
      cursor = frame.seq
      view = frame.view
      if (frame.seq > durableLog.head())
        complain(`a snapshot of ${frame.seq}, and the store ends at ${durableLog.head()}`)
    }
    if (frame.type === 'resync') complain(`a resync: ${frame.reason}`)
    if (frame.type !== 'record') return
    const { record } = frame
    durableLog.mustHold(record)
    if (cursor !== null && record.seq !== cursor + 1) complain(`record ${record.seq} after ${cursor}`)
    cursor = record.seq
    seen.push(record.seq)
    const state = durableLog.at(record.seq)?.state
    view = view && addToView(view, record)
    if (view && state && !isDeepStrictEqual(view, viewOf(state)))
      complain(`the view differs after ${record.seq} ${record.event.type}: ${JSON.stringify([view, viewOf(state)])}`)
  }

  async function follow(mine: AbortController): Promise<void> {
    const after = cursor === null ? {} : { after: cursor }
    const role = client === null ? undefined : dice.pick([undefined, undefined, 'driver', 'viewer'] as const)
    const who = client === null ? {} : { client, role, mayDrive: true }
    followed = host()
    for await (const frame of followed.handle.subscribe({ ...after, ...who, signal: mine.signal })) {
      if (connection !== mine) return
      take(frame)
      if (dice.chance(1, 4)) await scheduler.pass(own, 'frame')
      if (connection !== mine) return
    }
    if (connection === mine) connection = null
  }

  return {
    seen,
    cursor: () => cursor ?? 0,
    storageError: () => (connection !== null && followed === host() ? storageError : null),
    isConnected: () => connection !== null,
    connect() {
      connection?.abort()
      const mine = new AbortController()
      connection = mine
      follow(mine).catch((error: unknown) => complain(String(error)))
    },
    disconnect() {
      connection?.abort()
      connection = null
    },
  }
}
