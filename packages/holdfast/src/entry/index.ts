export type {
  AttachedSession,
  ClaimOptions,
  ClientEventOptions,
  ClientEventsOptions,
  CommandOptions,
  ContextUsage,
  CycleOptions,
  EditorSnapshot,
  EnterExecOptions,
  HoldfastMethods,
  LineOptions,
  ListAllOptions,
  MessageList,
  MessageSeed,
  PinOptions,
  PromptContent,
  ProviderInUse,
  PruneFurther,
  RefreshedCredentials,
  Session,
  SessionAdmin,
  SessionHistory,
  TrustOptions,
  Turn,
  TurnItem,
  TurnResult,
  UsageOptions,
} from '@holdfast/client'
export type { Authority, CallerOptions, LocalSession, LocalSessions, Retention } from '@holdfast/core'
export type * from '@holdfast/core/ports'
export type {
  Answer,
  AttachOptions,
  BlobHash,
  Budgets,
  CallId,
  CallView,
  ClearOptions,
  ClientEvent,
  ClientEventPage,
  ClientEventRequest,
  ClientId,
  Command,
  CommandId,
  CommandInput,
  CommandResult,
  CommandType,
  CycledModel,
  Decision,
  DeleteOptions,
  EmptyTrashOptions,
  ErrorKind,
  ExportChoice,
  Fault,
  FaultCode,
  FileChange,
  Finish,
  FoundMessages,
  Frame,
  FrameOf,
  Handle,
  ImportChoice,
  ImportFile,
  ImportResult,
  Instant,
  Key,
  Line,
  ListedBranch,
  ListedModel,
  ListOptions,
  LostRecord,
  Message,
  MessageId,
  Meta,
  ModelFault,
  ModelList,
  ModelName,
  NewsOptions,
  NotRemovedReason,
  Output,
  PageRequest,
  PendingApproval,
  Preview,
  ProcessMark,
  ProviderOptions,
  PruneOptions,
  Queue,
  QueuedPrompt,
  QueueEntry,
  Recorded,
  Removal,
  Result,
  Role,
  RotationEntry,
  SearchOptions,
  SearchRole,
  Seat,
  Seq,
  SessionHandle,
  SessionId,
  SessionList,
  SessionName as SpokenName,
  SessionNews,
  Sessions,
  StartOptions,
  StateField,
  StateFields,
  Stats,
  StatsOptions,
  Status,
  StepId,
  StorageError,
  StoredClientEvent,
  StoredFile,
  StoreFileOptions,
  Submission,
  SubmitOptions,
  SubscribeOptions,
  ThinkingLevel,
  TranscriptPage,
  TreeUsage,
  Trust,
  TrustScope,
  TurnEnd,
  Usage,
} from '@holdfast/protocol'
export { HoldfastError } from '@holdfast/protocol'
export type { Backup } from '../admin/backup/backup-store.ts'
export type { StoreReport } from '../admin/doctor/check-store.ts'
export type { Admin } from '../admin/jobs/admin.ts'
export type { Conversations, ConversationsOptions } from '../conversations/conversations.ts'
export type { ConversationMessage } from '../conversations/message.ts'
export type { Holdfast, LocalStartOptions, Notification, Notifier } from '../holdfast.ts'
export type { Logger } from '../observe/logging/logger.ts'
export { defineTool, type OpenOptions, openHoldfast } from '../open.ts'
export type { CustomModels } from '../providers/models.ts'
export type { Finding, FindingCode, Severity } from '../store/finding.ts'
export type { LoadedSession, Named as SessionOrName, StoredSessions } from '../stored-sessions.ts'
export type { ConfigOptions } from '../system/config/read-config.ts'
export type { Environment } from '../system/home.ts'
export type {
  RunContext,
  ToolDefinition,
  ToolOutput,
  ToolReturn,
} from '../tools/own/define-tool.ts'
export type { AiSdkTool, AiSdkTools, OwnTools } from '../tools/own/own-tools.ts'
export type {
  ArgumentsOf,
  FromJsonSchema,
  FromProperties,
  JsonSchema,
  StandardIssue,
  StandardResult,
  StandardSchema,
  ToolInput,
} from '../tools/own/tool-input.ts'
export type { ExportFormat, ExportOptions } from '../transfer/export/export-session.ts'
export type { ImportOutcome } from '../transfer/import/import-conversation.ts'
export type {
  ImportedFile,
  ImportOptions as ImportFileOptions,
  ImportProgress,
} from '../transfer/import/import-paths.ts'
export type { ImportRemark, RemarkCode } from '../transfer/import/parse/conversation.ts'
export type { FormatName } from '../transfer/import/parse/format.ts'
export type { ImportThreadOptions as ImportOptions } from '../transfer/import/thread/import-thread.ts'
export type { WriteResult as ImportWriteResult } from '../transfer/import/write/write-log.ts'
