import type { Store } from '@holdfast/core/ports'
import { fault } from '@holdfast/protocol/fault'
import { encodeAppend, encodeNew } from '../rows/encode-changes.ts'
import type { StoreChange } from '../rows/requests.ts'
import { type Answered, createCalls } from './calls.ts'
import { type WorkerPort, wake } from './worker-link.ts'

/** Writes to a store from another thread than the one that opened it. */
export type PortWriter = Pick<Store, 'create' | 'append'> & { close(): void }

export function createPortWriter({ port, signal }: WorkerPort): PortWriter {
  const calls = createCalls<StoreChange>((batch) => {
    port.postMessage(batch)
    wake(signal)
  })
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
    close: () => port.close(),
  }
}

const ended = fault('storage_error', 'The thread that writes to the store ended.')
