import { type Fault, fault, sessionNotFound as notFound } from '@holdfast/protocol/fault'

// The faults of all stores, in the same words. Imports no schema: workers load this.

/** There is no such session. */
export const sessionNotFound = (session: string): Fault => notFound(session, { session })

/** Another node took the session over: its epoch was raised. */
export const fenced = (session: string, epoch: number, current: number): Fault =>
  fault('fenced', `Session ${session} has another owner now. Open it again.`, { epoch, current })

/** The command was appended before, at this seq. */
export const commandSeen = (seq: number): Fault =>
  fault('command_seen', `This command was already admitted at seq ${seq}.`, { seq })

/** The head is not the one that the batch was decided on. */
export const logMoved = (session: string, expected: number, actual: number): Fault =>
  fault('log_moved', `The log of session ${session} has moved on to seq ${actual}.`, { expected, actual })

/** Another node owns the session. */
export const sessionLocked = (session: string, node: string | null): Fault =>
  fault('session_locked', `Session ${session} is open in another process.`, { node })

/** The session is in the trash, so it cannot be claimed. */
export const sessionTrashed = (session: string): Fault =>
  fault('session_trashed', `Session ${session} is in the trash. Restore it first.`, { session })

/** The session is not in the trash since the time that was named. */
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

/** Another session has this handle. */
export const handleTaken = (handle: string, session: string): Fault =>
  fault('handle_taken', `The handle ${handle} is taken.`, { session })

/** Another session has this key. */
export const keyTaken = (key: string, session: string): Fault =>
  fault('key_taken', `The key ${key} is taken.`, { session })

/** The bytes are more than a blob may have. */
export const blobTooLarge = (bytesMax: number): Fault =>
  fault('too_large', `A file may have at most ${bytesMax} bytes.`, { limit: 'blobBytesMax', bytesMax })
