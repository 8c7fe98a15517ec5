export { HookList, type HookLister, ListedHook } from './access/listed-hook.ts'
export { ListedTool, ToolList, type ToolLister, ToolsOf } from './access/listed-tool.ts'
export {
  JudgedOffer,
  OfferGrant,
  OfferKind,
  type OfferTrust,
  parseAbsoluteFolder,
  TrustedWorkspace,
  TrustedWorkspaceList,
  TrustRevoked,
  WorkspaceOffers,
} from './access/offer-trust.ts'
export {
  ListedPermission,
  PermissionList,
  PermissionListOptions,
  PermissionRule,
  type PermissionRules,
  parseRuleId,
} from './access/permissions.ts'
export { coverageText, isPathPattern, isPathRule, listCoverageText, literalPath } from './access/rule-coverage.ts'
export * from './access/spending.ts'
export * from './access/tokens.ts'
export { BackgroundShell, noSuchShell } from './api/background-shell.ts'
export { ClientEventPage, ClientEventRequest, StoredClientEvent } from './api/client-events.ts'
export {
  collectTouched,
  type DiffInput,
  DiffRequest,
  FileChangePage,
  FileChangeRequest,
  FileDiff,
  FileDiffs,
  listTouched,
  RestorePreview,
  StoredFileChange,
  StoredRestore,
  TouchedFile,
  type TouchedFiles,
} from './api/file-changes.ts'
export { DefaultModel, GivenKey, type ModelSettings, RemovedKey, SavedKey } from './api/model-settings.ts'
export { parseOptions } from './api/parse-options.ts'
export { parseSessionName, type SessionName } from './api/parse-session-name.ts'
export {
  ClearOptions,
  DeleteOptions,
  EmptyTrashOptions,
  NotRemovedReason,
  PruneOptions,
  Removal,
} from './api/removal.ts'
export {
  AttachOptions,
  CommandOptions,
  PageRequest,
  parseAttachOptions,
  parseSubscribeOptions,
  type Seat,
  type SessionHandle,
  SubscribeOptions,
  type TranscriptPage,
} from './api/session-handle.ts'
export {
  FoundMessages,
  ListOptions,
  NewsOptions,
  parseFolder,
  parseKey,
  parseStartOptions,
  parseUpload,
  SearchOptions,
  SearchRole,
  SessionList,
  type Sessions,
  StartOptions,
} from './api/sessions.ts'
export * from './api/skills.ts'
export { pickFields, StateField, StateFields, stateSchema } from './api/state-fields.ts'
export { Stats, StatsOptions, Tally } from './api/stats.ts'
export { linkMoves, type MoveStep, traceMoves } from './api/trace-moves.ts'
export {
  companionName,
  ExportOptions,
  ImportAnswer,
  ImportChoice,
  ImportFile,
  type ImportResult,
  pairImportFiles,
  parseImportFiles,
} from './api/transfer.ts'
export { withTrashedAt } from './api/trashed-at.ts'
export { FileLines, FileLinesRequest, FoundPath, FoundPaths, InstructionFile } from './api/workspace-file.ts'
export {
  Answer,
  Command,
  type CommandInput,
  type CommandType,
  commandFault,
  commandTypes,
  Decision,
  parseCommand,
  type Submission,
  unknownCommand,
} from './command/command.ts'
export { type CommandResult, commandResult, resultFields } from './command/command-result.ts'
export { type HistoryCommand, type RestoreInput, RestoreRequest } from './command/history-commands.ts'
export { Authority, ForwardedSubmission, NodeCall, NodeFollow, NodeNews } from './command/node-request.ts'
export type { AppendClientEvent, CatalogueCommand, ModelCommand } from './command/settings-commands.ts'
export * from './command/slash-command.ts'
export {
  ApprovedBy,
  approvalText,
  askText,
  DenialCode,
  Outcome,
  Output,
  outcomeOutput,
  ProcessMark,
  ruleText,
} from './event/call.ts'
export { AgentName, ChildOutcome, ChildResult, Subagent } from './event/child.ts'
export {
  blobEventTypes,
  blobsOf,
  countedMessageEvents,
  Event,
  type EventOf,
  type EventType,
  eventVersion,
  isCountedMessage,
  isMessageEvent,
  type LostRecord,
  messageEvents,
  messagesAfter,
  Recorded,
  refOf,
} from './event/event.ts'
export {
  BeforeImage,
  FileChange,
  FileState,
  isLeftByMove,
  isSameState,
  RefusedFile,
  RestoreAction,
  RestoredFile,
  RestoredName,
  restoreAction,
  restoredNames,
  withoutSetId,
} from './event/file-change.ts'
export { CheckpointMark, LineLength } from './event/history-events.ts'
export { HookEvent, HookRun, hookText } from './event/hook.ts'
export { boundPreview, Preview, PreviewSandbox, QuestionPreview, sandboxSentence } from './event/preview.ts'
export { QueueEntry, queuedEntry, reorderQueue } from './event/queue.ts'
export { ClientEvent, Fork } from './event/session.ts'
export { clip, firstLine, textOf } from './event/text-of.ts'
export { addTrust, findTrust, isTrustedExactly, Trust, TrustScope } from './event/trust.ts'
export { ErrorKind, Finish, ModelFault, Queue, TurnEnd, type TypedPrompt } from './event/turn.ts'
export {
  Frame,
  type FrameOf,
  listActiveTrust,
  ModelStatus,
  ProcessView,
  Role,
  SnapshotFrame,
  StorageError,
  withChildFrame,
  withModelStatus,
} from './frame/frame.ts'
export { createLiveParts, type LivePart, type LivePosition } from './frame/live-parts.ts'
export { NewsFrame, newsSession, SessionNews, StopReason } from './frame/news.ts'
export { createRecordFrame, createSnapshotFrame, encodeFrame, type RecordedView } from './frame/sse.ts'
export { StreamFrame, StreamStarted } from './frame/stream.ts'
export {
  createTranscript,
  messageOf,
  type Transcript,
} from './frame/transcript.ts'
export { createSerialQueue } from './serial-queue.ts'
export { ageForm, ageMsMax, dayMs, parseAge } from './text/age.ts'
export { type DiffLine, diffCounts, diffLines, renameHeads } from './text/diff-lines.ts'
export { explainIssue, locateIssue } from './text/explain.ts'
export { escapeHidden, escapeHiddenInJson, escapeLine } from './text/hostile-text.ts'
export { didYouMean, nearest } from './text/nearest.ts'
export * from './value/boundary.ts'
export { Branch, ListedBranch, moveBranches } from './value/branch.ts'
export {
  Content,
  ContentPart,
  combineQueueEntriesToText,
  continueText,
  FilePart,
  type QueuedPrompt,
  StoredFile,
  StoreFileOptions,
  TextPart,
} from './value/content.ts'
export { contentText } from './value/content-text.ts'
export {
  errorMessage,
  type Fault,
  type FaultCode,
  fault,
  faultStatus,
  HoldfastError,
  notReady,
  sessionNotFound,
} from './value/fault.ts'
export { FaultSchema } from './value/fault-schema.ts'
export {
  ApprovalId,
  BlobHash,
  BranchName,
  CallId,
  ClientId,
  CommandId,
  createCommandId,
  EntryId,
  FolderPath,
  GivenTime,
  Handle,
  Instant,
  Key,
  MessageId,
  Seq,
  SessionId,
  StepId,
  TurnNumber,
} from './value/id.ts'
export { findJsonExcess, type Json } from './value/json.ts'
export { limits } from './value/limits.ts'
export { clipLine, findDivergence, isOnLine, Line, Span } from './value/line.ts'
export { isTextType, properMediaType } from './value/media-type.ts'
export {
  CycledModel,
  completePrice,
  GivenFacts,
  KeySource,
  ListedModel,
  ListedProvider,
  ModelFacts,
  ModelList,
  Price,
  RotationEntry,
} from './value/model.ts'
export { Answers, AnswerValue, checkAnswers, QuestionField, QuestionReply } from './value/question.ts'
export { done, InvariantViolation, invariant, ok, orThrow, type Result, refuse, unreachable } from './value/result.ts'
export { SeedMessage, SeedMessages } from './value/seed.ts'
export { addSeen, isSeenWhole, type SeenFile, SeenLines } from './value/seen.ts'
export {
  Activity,
  ApprovalRule,
  Budgets,
  Mode,
  ModelName,
  modelIdOf,
  noWorkdir,
  Permission,
  ProviderName,
  ProviderOptions,
  providerOf,
  Settings,
  Status,
  statusOf,
  ThinkingLevel,
} from './value/settings.ts'
export { ActiveSkill, addSkill, dropSkill, SkillName } from './value/skill.ts'
export { Todo } from './value/todo.ts'
export * from './value/usage.ts'
export { ChildList, ChildView, SubagentContext, withChild } from './view/child.ts'
export { CallFile, CallStatus, CallView, Message } from './view/message.ts'
export { addToMeta, Meta } from './view/meta.ts'
export { ServerList, ServerState, SessionServer } from './view/server.ts'
export { addSpent, noneSpent, spentBy } from './view/sum-spent.ts'
export {
  eventTokens,
  fileTokens,
  isEstimateAfter,
  modelCallEvents,
  outcomeTokens,
  spentAfter,
  spentOf,
  textTokens,
  tokensAfter,
  turnUsageAfter,
  usageAfter,
  usageOf,
} from './view/usage-folds.ts'
export { addToView, PendingApproval, SessionView } from './view/view.ts'
