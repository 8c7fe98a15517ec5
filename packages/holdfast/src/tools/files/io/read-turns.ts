import { createKeyedQueue, createSerialQueue } from '@holdfast/protocol/serial-queue'

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
  return {
    ofSize: (bytes, work) => (bytes < largeBytes ? work() : large(work)),
    ofSession: createKeyedQueue(),
  }
}
