import { createSerialQueue } from '@holdfast/protocol'

/** One thing after the other: what is put in is done in order, each when the one before it is over. */
export interface Mailbox {
  put<Value>(work: () => Promise<Value>): Promise<Value>
}

export const createMailbox = (): Mailbox => ({ put: createSerialQueue() })
