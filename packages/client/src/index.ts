export { combineQueueEntriesToText, HoldfastError } from '@holdfast/protocol'
export type * from '@holdfast/protocol/public-types'
export { type Attachment, attach, type MoveOptions } from './attachment.ts'
export type { HoldfastMethods, TokenMethods } from './holdfast/holdfast-methods.ts'
export type { ListAllOptions } from './holdfast/list-all.ts'
export type { SessionData, SessionOrName } from './holdfast/save-session.ts'
export type { PruneFurther, SessionAdmin } from './holdfast/session-admin.ts'
export { decodeFrames, decodeNews } from './http/decode-stream.ts'
export type { FollowNewsOptions } from './http/follow.ts'
export type { Connection, FollowOptions } from './http/follow-stream.ts'
export type { Pace } from './http/http.ts'
export { createLiveView, type LiveView, type LiveViewOptions } from './live-view.ts'
export { connectHoldfast, type RemoteHoldfast } from './remote/connect-holdfast.ts'
export { type ConnectOptions, connectSessions, type Health, type RemoteSessions } from './remote/connect-sessions.ts'
export type { RemoteSessionHandle } from './remote/remote-session-handle.ts'
export type { MessageList } from './session/message-list.ts'
export type { AddedMessage, MessageSeed } from './session/seed-messages.ts'
export {
  type AbortOptions,
  type AnswerOptions,
  type AttachedSession,
  type ClaimOptions,
  type ClientEventOptions,
  createSession,
  type EnterExecOptions,
  type PinOptions,
  type PromptContent,
  type PromptOptions,
  type Session,
  type TrustOptions,
} from './session/session.ts'
export type { RewindOptions, Rewound } from './session/session-history.ts'
export {
  type ContextUsage,
  type CycleOptions,
  contextUsageOf,
  type ProviderInUse,
  type RefreshedCredentials,
  type UsageOptions,
} from './session/session-models.ts'
export type { ClientEventsOptions, EditorApproval, EditorSnapshot, LineOptions } from './session/session-reads.ts'
export type { Subscription } from './session/subscription.ts'
export type { Turn, TurnOptions, TurnResult } from './session/turn.ts'
export type { TurnItem } from './session/turn-items.ts'
