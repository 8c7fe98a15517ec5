import { z } from 'zod'

/** `ses_` and a UUIDv7 in lower-case Crockford base32. Sorts by creation time and is safe in paths and URLs. */
export const SessionId = z
  .string()
  .regex(/^ses_[0-7][0-9a-hjkmnp-tv-z]{25}$/, 'a session id is ses_ and 26 characters')
  .brand<'SessionId'>()
export type SessionId = z.infer<typeof SessionId>

/** A short readable name, unique in its store, accepted wherever an id is. */
export const Handle = z
  .string()
  .regex(/^[a-z]{2,20}-[a-z]{2,20}-[0-9]{1,6}$/, 'a handle looks like calm-harbor-12')
  .brand<'Handle'>()
export type Handle = z.infer<typeof Handle>

/** A name given by an embedding program. Never used as a file name. */
export const Key = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'a key has no control characters')
  .brand<'Key'>()
export type Key = z.infer<typeof Key>

const pathCharsMax = 4096

/** The path of a folder, as a program gives it. */
export const FolderPath = z.string().max(pathCharsMax, `a path has at most ${pathCharsMax} characters`)

/** Created by the client. A command sent twice with the same id runs once. */
export const CommandId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'a command id is 1 to 64 of A-Z a-z 0-9 _ -')
  .brand<'CommandId'>()
export type CommandId = z.infer<typeof CommandId>

/** Chosen by the client, so that it is the same client after a reconnect. */
export const ClientId = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,64}$/, 'a client id is 1 to 64 of A-Z a-z 0-9 _ . : -')
  .brand<'ClientId'>()
export type ClientId = z.infer<typeof ClientId>

/** SHA-256 of the bytes, in hex. */
export const BlobHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'a blob hash is a SHA-256 in hex')
  .brand<'BlobHash'>()
export type BlobHash = z.infer<typeof BlobHash>

const seq = z.int().min(0)

/** A record's position in its session: without gaps, and the only cursor. */
export const Seq = seq
export type Seq = z.infer<typeof Seq>

// The id of a thing is the seq of the record that created it, so `decide` needs no randomness.
/** The id of a message: the seq of the record that created it. */
export const MessageId = seq.brand<'MessageId'>()
export type MessageId = z.infer<typeof MessageId>
/** The id of a model call: the seq of its first record. */
export const StepId = seq.brand<'StepId'>()
export type StepId = z.infer<typeof StepId>
/** The id of a tool call: the seq of the record that requested it. */
export const CallId = seq.brand<'CallId'>()
export type CallId = z.infer<typeof CallId>
/** The id of an approval: the seq of the record that asked for it. */
export const ApprovalId = seq.brand<'ApprovalId'>()
export type ApprovalId = z.infer<typeof ApprovalId>
/** The id of a queued prompt: the seq of the record that queued it. */
export const EntryId = seq.brand<'EntryId'>()
export type EntryId = z.infer<typeof EntryId>

/** `branch-1`, `branch-2`, unless a person names it. */
export const BranchName = z
  .string()
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u, 'a branch name is 1 to 64 letters, digits, spaces and . _ -')
  .brand<'BranchName'>()
export type BranchName = z.infer<typeof BranchName>

/** Turns of a line, counted from 0. */
export const TurnNumber = seq.brand<'TurnNumber'>()
export type TurnNumber = z.infer<typeof TurnNumber>

/** The id of a command in the background. The tool that starts it makes it; it ends with the command. */
export const ShellId = z.string().regex(/^[a-z0-9]{1,100}$/, 'must be an id of a command in the background')

/** ISO 8601 UTC in every API and in the log. Order comes from `seq`, never from a clock. */
export const Instant = z.iso.datetime()
export type Instant = z.infer<typeof Instant>

/** A time that a person or a program gives: with `Z` or an offset, or a date, which begins at midnight UTC. */
export const GivenTime = z.union([z.iso.datetime({ offset: true }), z.iso.date()])
export type GivenTime = z.infer<typeof GivenTime>

/** Creates a random id. Browsers offer `randomUUID` to https pages only, so it is not used. */
export function createCommandId(): CommandId {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return CommandId.parse(Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''))
}
