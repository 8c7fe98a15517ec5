export type {
  CommandOptions,
  ContextUsage,
  CycleOptions,
  EditorSnapshot,
  MessageSeed,
  ProviderInUse,
  RefreshedCredentials,
  Session,
  SessionHistory,
  Turn,
  TurnItem,
  TurnResult,
  UsageOptions,
} from '@holdfast/client'
export type { Retention } from '@holdfast/core'
export type { OnProblem, Problem } from '@holdfast/core/ports'
export type {
  CommandResult,
  CommandType,
  CycledModel,
  Decision,
  ErrorKind,
  Fault,
  FaultCode,
  Frame,
  ListedBranch,
  ListedModel,
  Message,
  Meta,
  ModelList,
  ModelName,
  NotRemovedReason,
  PendingApproval,
  Removal,
  RotationEntry,
  SessionHandle,
  Sessions,
  StartOptions,
  Status,
  StoredFile,
  StoreFileOptions,
  ThinkingLevel,
  Usage,
} from '@holdfast/protocol'
export { HoldfastError } from '@holdfast/protocol'
export type { Conversations, ConversationsOptions } from '../conversations/conversations.ts'
export type { ConversationMessage } from '../conversations/message.ts'
export type { Holdfast, LocalStartOptions, Notification, Notifier } from '../holdfast.ts'
export type { Logger } from '../observe/logging/logger.ts'
export { type OpenOptions, openHoldfast } from '../open.ts'
export type { PruneFurther, SessionAdmin } from '../session-admin.ts'
export type { LoadedSession, StoredSessions } from '../stored-sessions.ts'
export type { ExportFormat, ExportOptions } from '../transfer/export/export-session.ts'
export type { ImportedFile } from '../transfer/import/import-paths.ts'
export type { ImportRemark, RemarkCode } from '../transfer/import/parse/conversation.ts'
export type { FormatName } from '../transfer/import/parse/format.ts'
export type { ImportThreadOptions as ImportOptions } from '../transfer/import/thread/import-thread.ts'
