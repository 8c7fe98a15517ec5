export type {
  AbortOptions,
  AddedMessage,
  AnswerOptions,
  AttachedSession,
  ClaimOptions,
  ClientEventOptions,
  ClientEventsOptions,
  CommandOptions,
  ContextUsage,
  CycleOptions,
  EditorApproval,
  EditorSnapshot,
  EnterExecOptions,
  HoldfastMethods,
  LineOptions,
  ListAllOptions,
  MessageList,
  MessageSeed,
  PinOptions,
  PromptContent,
  PromptOptions,
  ProviderInUse,
  PruneFurther,
  RefreshedCredentials,
  RewindOptions,
  Rewound,
  Session,
  SessionAdmin,
  SessionData,
  SessionOrName,
  Subscription,
  TokenMethods,
  TrustOptions,
  Turn,
  TurnItem,
  TurnOptions,
  TurnResult,
  UsageOptions,
} from '@holdfast/client'
export type { Authority, CallerOptions, LocalSession, LocalSessions, Retention } from '@holdfast/core'
export type * from '@holdfast/core/ports'
export { HoldfastError } from '@holdfast/protocol'
export type * from '@holdfast/protocol/public-types'
export type { Backup } from '../admin/backup/backup-store.ts'
export type { StoreReport } from '../admin/doctor/check-store.ts'
export type { Admin } from '../admin/jobs/admin.ts'
export type { Conversations, ConversationsOptions } from '../conversations/conversations.ts'
export type { ConversationMessage } from '../conversations/message.ts'
export type { Holdfast, LocalStartOptions, Notification, Notifier } from '../holdfast.ts'
export type { HookFunction, HookFunctionRun, HookResult, MatchedHook, OwnHooks } from '../hooks/own-hooks.ts'
export type { HookPayload, HookPayloads } from '../hooks/payload.ts'
export type { NodeOptions } from '../nodes/cluster/cluster-node.ts'
export type { Logger } from '../observe/logging/logger.ts'
export { defineTool, type OpenOptions, openHoldfast } from '../open.ts'
export type { CustomModels } from '../providers/models.ts'
export type { Finding, FindingCode, Severity } from '../store/finding.ts'
export type { LoadedSession, StoredSessions } from '../stored-sessions.ts'
export type { ConfigOptions } from '../system/config/read-config.ts'
export type { Environment } from '../system/home.ts'
export type {
  RunContext,
  ToolDefinition,
  ToolMedia,
  ToolOutput,
  ToolReturn,
} from '../tools/own/define-own-tool.ts'
export type { AiSdkTool, AiSdkTools, OwnTools } from '../tools/own/own-tools.ts'
export type {
  ArgumentsOf,
  FromJsonSchema,
  FromProperties,
  FromTypeName,
  JsonSchema,
  StandardIssue,
  StandardResult,
  StandardSchema,
  ToolInput,
} from '../tools/own/tool-input.ts'
export type { ExportFormat } from '../transfer/export/export-session.ts'
export type { ImportOutcome } from '../transfer/import/import-conversation.ts'
export type {
  ImportedFile,
  ImportFileOptions,
  ImportProgress,
} from '../transfer/import/import-paths.ts'
export type { ImportRemark, RemarkCode } from '../transfer/import/parse/conversation.ts'
export type { FormatName } from '../transfer/import/parse/format.ts'
export type { ImportOptions } from '../transfer/import/thread/import-thread.ts'
export type { ImportWriteResult } from '../transfer/import/write/write-log.ts'
