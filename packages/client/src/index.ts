export { combineQueueEntriesToText } from '@holdfast/protocol'
export { type Attachment, type AttachOptions, attach, createAttachment, type MoveOptions } from './attachment.ts'
export { type ConnectOptions, connectHoldfast, type Health, type RemoteSessions } from './connect-holdfast.ts'
export type { Connection, FollowOptions } from './connection.ts'
export type { FollowNewsOptions } from './follow-news.ts'
export { createLiveView, type LiveView, type LiveViewOptions } from './live-view.ts'
export type { RemoteSessionHandle } from './remote-session-handle.ts'
export {
  type CommandOptions,
  createSession,
  type EditorSnapshot,
  type EnterExecOptions,
  entriesOf,
  type LineOptions,
  type Session,
  type TrustOptions,
} from './session.ts'
export type { PinOptions, SessionCatalogue } from './session-catalogue.ts'
export type { ClientEventOptions, SessionClientEvents } from './session-client-events.ts'
export type { Compaction, MessageSeed, SessionHistory } from './session-history.ts'
export type { CycleOptions, ProviderInUse, SessionModels } from './session-models.ts'
export { type ContextUsage, contextUsageOf, type SessionUsage, type UsageOptions } from './session-usage.ts'
