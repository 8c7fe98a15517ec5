import type { NewSession, Store } from '@holdfast/core/ports'
import { fault } from '@holdfast/protocol/fault'
import type { Result } from '@holdfast/protocol/result'
import { encodeAppend, encodeNew } from '../rows/encode-changes.ts'
import type { StoreChange } from '../rows/requests.ts'
import { type Answered, createCalls, type Envelope } from './calls.ts'
import { type WorkerPort, wake } from './worker-link.ts'

/** Writes to a store from another thread than the one that opened it. */
export type PortWriter = Pick<Store, 'create' | 'append'> & {
  /** Creates a session once that is allowed. Until then it keeps only what it sends. */
  createOnce(session: NewSession, allowed: Promise<Result<void>>): ReturnType<Store['create']>
  close(): void
}

export function createPortWriter({ port, signal }: WorkerPort): PortWriter {
  const send = (batch: readonly Envelope<StoreChange>[]): void => {
    port.postMessage(batch)
    wake(signal)
  }
  // The sessions of many small files cross in one message, and are written in one transaction.
  const calls = createCalls<StoreChange>(send, setImmediate)
  let isEnded = false
  port.on('message', (answers: readonly Answered[]) => calls.settle(answers))
  port.on('close', () => {
    isEnded = true
    calls.refuseAll(ended)
  })
  const write = (change: StoreChange): ReturnType<Store['create']> => {
    if (isEnded) return Promise.resolve({ ok: false, fault: ended })
    return calls.ask(change) as ReturnType<Store['create']> // both changes answer `done` or a fault
  }
  return {
    create: (session) => write(encodeNew(session)),
    append: (append) => write(encodeAppend(append)),
    createOnce(session, allowed) {
      const change = encodeNew(session)
      return allowed.then((answer) => (answer.ok ? write(change) : answer))
    },
    close: () => port.close(),
  }
}

const ended = fault('storage_error', 'The thread that writes to the store ended.')
