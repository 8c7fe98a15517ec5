import { createKeyedQueue } from '@holdfast/protocol/serial-queue'

/** Runs changes of one real path one after the other, whichever sessions make them. */
export const oneByOneAt = createKeyedQueue()
