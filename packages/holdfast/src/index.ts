export type { CommandOptions, Compaction, EditorSnapshot, MessageSeed, Session, SessionHistory } from '@holdfast/client'
export type { Retention } from '@holdfast/core'
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
  Removal,
  SessionHandle,
  Sessions,
  StartOptions,
  Status,
  StayReason,
  StoredFile,
  StoreFileOptions,
} from '@holdfast/protocol'
export { HoldfastError } from '@holdfast/protocol'
export type { Conversations, ConversationsOptions } from './conversation/conversations.ts'
export type { ConversationMessage } from './conversation/message.ts'
export type { ExportFormat, ExportOptions } from './export/export-session.ts'
export type { Holdfast, LocalStartOptions, Notification, Notifier } from './holdfast.ts'
export type { ImportRemark, RemarkCode } from './import/conversation.ts'
export type { FormatName } from './import/format.ts'
export type { ImportedFile, ImportOptions } from './import/import-paths.ts'
export type { Keeping, PruneFurther } from './keeping.ts'
export { type OpenOptions, openHoldfast } from './open.ts'
export type { LoadedSession, StoredSessions } from './stored-sessions.ts'
