import { z } from 'zod'

/** `ses_` and a UUIDv7 in lower-case Crockford base32: names its kind, sorts by birth, is safe in a path and a URL. */
export const SessionId = z
  .string()
  .regex(/^ses_[0-7][0-9a-hjkmnp-tv-z]{25}$/, 'a session id is ses_ and 26 characters')
  .brand<'SessionId'>()
export type SessionId = z.infer<typeof SessionId>

/** A short human name, unique in its store, accepted wherever an id is. */
export const Handle = z
  .string()
  .regex(/^[a-z]{2,20}-[a-z]{2,20}-[0-9]{1,6}$/, 'a handle looks like calm-harbor-12')
  .brand<'Handle'>()
export type Handle = z.infer<typeof Handle>

/** A name an embedding program gives a session. Data, never a file name. */
export const Key = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'a key holds no control characters')
  .brand<'Key'>()
export type Key = z.infer<typeof Key>

/** Made by the client; the same id sent twice is the same command. */
export const CommandId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'a command id is 1 to 64 of A-Z a-z 0-9 _ -')
  .brand<'CommandId'>()
export type CommandId = z.infer<typeof CommandId>

/** Who subscribes or commands; chosen by the client, so that a reconnect is the same client. */
export const ClientId = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,64}$/, 'a client id is 1 to 64 of A-Z a-z 0-9 _ . : -')
  .brand<'ClientId'>()
export type ClientId = z.infer<typeof ClientId>

/** SHA-256 of the bytes, in hex. */
export const BlobHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'a blob is named by its SHA-256 in hex')
  .brand<'BlobHash'>()
export type BlobHash = z.infer<typeof BlobHash>

const seq = z.int().min(0)

/** A record's place in its session: dense, and the only cursor there is. */
export const Seq = seq
export type Seq = z.infer<typeof Seq>

// What a record makes is known by that record's seq, so `decide` needs no randomness to name things.
export const MessageId = seq.brand<'MessageId'>()
export type MessageId = z.infer<typeof MessageId>
export const StepId = seq.brand<'StepId'>()
export type StepId = z.infer<typeof StepId>
export const CallId = seq.brand<'CallId'>()
export type CallId = z.infer<typeof CallId>
export const ApprovalId = seq.brand<'ApprovalId'>()
export type ApprovalId = z.infer<typeof ApprovalId>
export const EntryId = seq.brand<'EntryId'>()
export type EntryId = z.infer<typeof EntryId>

/** A line that was kept; `branch-1`, `branch-2` unless a person names it. */
export const BranchName = z
  .string()
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u, 'a branch name is 1 to 64 letters, digits, spaces and . _ -')
  .brand<'BranchName'>()
export type BranchName = z.infer<typeof BranchName>

/** Turns count from 0 along a line. */
export const TurnNumber = seq.brand<'TurnNumber'>()
export type TurnNumber = z.infer<typeof TurnNumber>

/** Times are ISO 8601 UTC on every border, the log included; order comes from `seq`, never from a clock. */
export const Instant = z.iso.datetime()
export type Instant = z.infer<typeof Instant>

/** Not `randomUUID`: a browser offers that to https pages only, and a server at home has no certificate. */
export function createCommandId(): CommandId {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return CommandId.parse(Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(''))
}
