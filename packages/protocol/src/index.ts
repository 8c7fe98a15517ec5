export { ageForm, ageMsMax, dayMs, parseAge } from './age.ts'
export { Branch, ListedBranch, moveBranches } from './branch.ts'
export type { ChoosingCommand } from './command/choosing.ts'
export type { AppendClientEvent } from './command/client-event.ts'
export {
  Abort,
  Answer,
  Command,
  type CommandInput,
  type CommandType,
  Continue,
  commandTypes,
  Decision,
  EnterExec,
  EnterPlan,
  RespondToApproval,
  SendPrompt,
  type Submission,
  unknownCommand,
} from './command/command.ts'
export { commandFault } from './command/command-fault.ts'
export { createCommandId } from './command/command-id.ts'
export type { HistoryCommand } from './command/history.ts'
export type { KeepingCommand } from './command/keeping.ts'
export {
  Content,
  ContentPart,
  combineQueueEntriesToText,
  FilePart,
  StoredFile,
  StoreFileOptions,
  TextPart,
} from './content.ts'
export { contentText } from './content-text.ts'
export { continueWord } from './continue-word.ts'
export { blobEventTypes, blobsOf } from './event/blobs-of.ts'
export { ApprovedBy, DenialCode, FileChange, Outcome, Output, Preview, ProcessMark } from './event/call.ts'
export { ClientEvent } from './event/client.ts'
export {
  Event,
  type EventOf,
  type EventType,
  eventVersion,
  isMessageEvent,
  messageEvents,
  messagesAfter,
  refOf,
} from './event/event.ts'
export { CheckpointMark, LineLength } from './event/line.ts'
export { QueueEntry } from './event/queue.ts'
export { Fork } from './event/session.ts'
export { Trust, TrustScope } from './event/trust.ts'
export { ErrorKind, Finish, ModelFault, Queue, TurnEnd } from './event/turn.ts'
export { explainIssue, placeIssue } from './explain.ts'
export { fault, faultStatus, HoldfastError } from './fault.ts'
export { Fault, FaultCode } from './fault-schema.ts'
export { Frame, type FrameOf, Here, ModelHere, Role, StorageError, withModel } from './frame.ts'
export { escapeHidden, escapeHiddenInJson, escapeLine } from './hostile-text.ts'
export {
  ApprovalId,
  BlobHash,
  BranchName,
  CallId,
  ClientId,
  CommandId,
  EntryId,
  Handle,
  Instant,
  Key,
  MessageId,
  Seq,
  SessionId,
  StepId,
  TurnNumber,
} from './id.ts'
export { limits } from './limits.ts'
export { clipLine, isOnLine, Line, partsAt, Span } from './line.ts'
export { dropRecorded, growLive, type LivePart, type LivePlace } from './live-parts.ts'
export { isTextType, properMediaType } from './media-type.ts'
export { CallStatus, CallView, Message } from './message.ts'
export { addToMeta, Meta } from './meta.ts'
export {
  CycledModel,
  GivenFacts,
  KeySource,
  ListedModel,
  ListedProvider,
  ModelFacts,
  ModelList,
  Price,
  RotationEntry,
  wholePrice,
} from './model.ts'
export { didYouMean, nearest } from './nearest.ts'
export { NewsFrame, newsSession, SessionNews, StopReason } from './news.ts'
export { oneByOne } from './one-by-one.ts'
export { outcomeOutput } from './outcome-output.ts'
export { parseSessionName, type SessionName } from './parse-session-name.ts'
export { reorderQueue } from './queue-order.ts'
export { type LostRecord, Recorded } from './record.ts'
export {
  ClearOptions,
  DeleteOptions,
  EmptyTrashOptions,
  PruneOptions,
  Removal,
  StayReason,
} from './removal.ts'
export { done, InvariantViolation, invariant, ok, orThrow, type Result, refuse, unreachable } from './result.ts'
export { FoundMessages, SearchOptions, SearchRole } from './search.ts'
export { SeedMessage, SeedMessages } from './seed.ts'
export type { PageRequest, SessionHandle, SubmitOptions, SubscribeOptions, TranscriptPage } from './session-handle.ts'
export { ListOptions, type NewsOptions, SessionList, type Sessions, StartOptions } from './sessions.ts'
export {
  ApprovalRule,
  Budgets,
  Mode,
  ModelName,
  modelIdOf,
  Permission,
  ProviderName,
  ProviderOptions,
  providerOf,
  Settings,
  ThinkingLevel,
} from './settings.ts'
export { decodeFrames, decodeNews, encodeFrame, encodeNews, UnreadableFrame } from './sse.ts'
export { Stats, StatsOptions, Tally } from './stats.ts'
export { Activity, Status, statusOf } from './status.ts'
export { clip, firstLine, textOf } from './text-of.ts'
export { eventTokens, fileTokens, isEstimateAfter, textTokens, tokensAfter } from './tokens.ts'
export { createTranscript, messageOf, type Transcript } from './transcript.ts'
export { trashMark } from './trash-mark.ts'
export { addTrust, findTrust, isTrustedExactly, trustInForce } from './trust-list.ts'
export {
  addUsage,
  callEvents,
  noUsage,
  spentAfter,
  TreeUsage,
  turnUsageAfter,
  Usage,
  usageAfter,
  usageOf,
} from './usage.ts'
export { addToView, PendingApproval, SessionView } from './view.ts'
