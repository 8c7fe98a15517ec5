import { type Fault, fault, sessionNotFound as notFound } from '@holdfast/protocol/fault'

// The faults of all stores, in the same words. Imports no schema: workers load this.

export const sessionNotFound = (session: string): Fault => notFound(session, { session })

export const fenced = (session: string, epoch: number, current: number): Fault =>
  fault('fenced', `Session ${session} has another owner now. Open it again.`, { epoch, current })

export const commandSeen = (seq: number): Fault =>
  fault('command_seen', `This command was already admitted at seq ${seq}.`, { seq })

export const logMoved = (session: string, expected: number, actual: number): Fault =>
  fault('log_moved', `The log of session ${session} has moved on to seq ${actual}.`, { expected, actual })

export const sessionLocked = (session: string, node: string | null): Fault =>
  fault('session_locked', `Session ${session} is open in another process.`, { node })

export const sessionTrashed = (session: string): Fault =>
  fault('session_trashed', `Session ${session} is in the trash. Restore it first.`, { session })

export const sessionNotTrashed = (session: string, trashedAt: number | null): Fault =>
  fault(
    'session_not_trashed',
    `Session ${session} left the trash or was trashed again meanwhile. It was not removed.`,
    {
      session,
      trashedAt,
    },
  )

/** Ids are unique, so this is a bug. It is a value because a worker cannot throw it. */
export const sessionExists = (session: string): Fault =>
  fault('internal', `Session ${session} already exists.`, { session })

export const handleTaken = (handle: string, session: string): Fault =>
  fault('handle_taken', `The handle ${handle} is taken.`, { session })

export const keyTaken = (key: string, session: string): Fault =>
  fault('key_taken', `The key ${key} is taken.`, { session })

export const blobTooLarge = (bytesMax: number): Fault =>
  fault('too_large', `A file may have at most ${bytesMax} bytes.`, { limit: 'blobBytesMax', bytesMax })
