import type { Frame, Recorded, SessionId } from '@holdfast/protocol'
import type { World } from './world.ts'

/** A client that follows a session at some node, and goes on at its cursor at another one when that node fails. */
export type Follower = {
  readonly session: SessionId
  readonly records: readonly Recorded[]
  readonly seq: () => number
}

const reconnectMs = 100

export function startFollower({ clock, dice, nodes, database }: World, session: SessionId): Follower {
  const records: Recorded[] = []
  let cursor = 0
  let connection: AbortController | null = null

  function take(frame: Frame): void {
    if (frame.type === 'resync') database.audit.violations.push(`a follower of ${session} is told to start again`)
    if (frame.type !== 'record') return
    const { record } = frame
    if (record.seq !== cursor + 1) database.audit.violations.push(`a follower gets ${record.seq} after ${cursor}`)
    cursor = record.seq
    records.push(record)
  }

  function connect(): void {
    const node = dice.pick(nodes().filter(({ process }) => process.status === 'running'))
    const mine = new AbortController()
    connection = mine
    const end = () => {
      if (connection !== mine) return
      connection = null
      clock.after(reconnectMs, connect)
    }
    if (!node) {
      end()
      return
    }
    node.process.onDeath(end)
    // A client that hears nothing for long connects elsewhere.
    const cancel = clock.after(4000 + dice.below(8000), () => {
      mine.abort()
      end()
    })
    const follow = async () => {
      for await (const frame of node.session(session).subscribe({ after: cursor, signal: mine.signal })) {
        if (connection !== mine) return
        take(frame)
      }
    }
    follow()
      .catch((error) => database.audit.violations.push(`a follower of ${session}: ${error}`))
      .finally(() => {
        cancel()
        end()
      })
  }

  connect()
  return { session, records, seq: () => cursor }
}
