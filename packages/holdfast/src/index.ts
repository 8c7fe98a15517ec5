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
export type { ExportFormat, ExportOptions } from './export/export-session.ts'
export type { Holdfast, LocalStartOptions, Notification, Notifier } from './holdfast.ts'
export type { ImportRemark, RemarkCode } from './import/conversation.ts'
export type { FormatName } from './import/format.ts'
export type { ImportedFile, ImportOptions } from './import/import-paths.ts'
export { type OpenOptions, openHoldfast } from './open.ts'
