import type { Answer, Result } from '@holdfast/protocol'
import type { Mailbox } from './mailbox.ts'

type RecordAbort = () => Promise<Result<Answer>>

/** An abort that stopped the turn and could not be recorded yet. It is owed to that turn, not to the next. */
export interface OwedAbort {
  /** The work has stopped though the disk could not be told; it is told as soon as it listens. */
  owe(record: RecordAbort): Promise<void>
  /** The turn is over, however it ended. */
  forget(): void
}

export function createOwedAbort(mailbox: Mailbox, pause: () => Promise<void>, isClosed: () => boolean): OwedAbort {
  let owed: RecordAbort | null = null
  return {
    async owe(record) {
      owed = record
      while (owed === record && !isClosed()) {
        await pause()
        await mailbox.put(async () => owed === record && record())
      }
    },
    forget() {
      owed = null
    },
  }
}
