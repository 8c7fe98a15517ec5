import { createSerialQueue } from '@holdfast/protocol/serial-queue'

/** Files of this size are held in memory one at a time. */
const largeBytes = 1024 * 1024

type Work<Value> = () => Promise<Value>

/** Decides which reads wait for others: one answer may ask for 64 large files or images at once. */
export interface ReadTurns {
  /** Runs a read. A large file waits until the large one before it is read. */
  ofSize<Value>(bytes: number, work: Work<Value>): Promise<Value>
  /** Runs work of a session after that which it asked for before, so that another session waits for one at most. */
  ofSession<Value>(session: string, work: Work<Value>): Promise<Value>
}

export function createReadTurns(): ReadTurns {
  const large = createSerialQueue()
  const sessions = new Map<string, { readonly inTurn: ReturnType<typeof createSerialQueue>; waiting: number }>()
  return {
    ofSize: (bytes, work) => (bytes < largeBytes ? work() : large(work)),
    async ofSession(session, work) {
      const own = sessions.get(session) ?? { inTurn: createSerialQueue(), waiting: 0 }
      sessions.set(session, own)
      own.waiting++
      try {
        return await own.inTurn(work)
      } finally {
        own.waiting--
        if (own.waiting === 0) sessions.delete(session)
      }
    },
  }
}
