export type { CommandOptions, Compaction, EditorSnapshot, MessageSeed, Session, SessionHistory } from '@holdfast/client'
export type { OnProblem, Problem } from '@holdfast/core/ports'
export type {
  Decision,
  ErrorKind,
  Fault,
  FaultCode,
  Frame,
  ListedBranch,
  Message,
  Meta,
  PendingApproval,
  SessionHandle,
  Sessions,
  StartOptions,
  Status,
  StoredFile,
  StoreFileOptions,
} from '@holdfast/protocol'
export { HoldfastError } from '@holdfast/protocol'
export type { Holdfast, LocalStartOptions, Notification, Notifier } from './holdfast.ts'
export { type OpenOptions, openHoldfast } from './open.ts'
