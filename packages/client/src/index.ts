export { combineQueueEntriesToText } from '@holdfast/protocol'
export { type Attachment, type AttachOptions, attach, createAttachment, type MoveOptions } from './attachment.ts'
export { decodeFrames, decodeNews } from './http/decode-stream.ts'
export type { FollowNewsOptions } from './http/follow.ts'
export type { Connection, FollowOptions } from './http/follow-stream.ts'
export { createLiveView, type LiveView, type LiveViewOptions } from './live-view.ts'
export { type ConnectOptions, connectHoldfast, type Health, type RemoteSessions } from './remote/connect-holdfast.ts'
export type { RemoteSessionHandle } from './remote/remote-session-handle.ts'
export {
  type ClientEventOptions,
  type CommandOptions,
  createSession,
  type EditorSnapshot,
  type EnterExecOptions,
  entriesOf,
  type LineOptions,
  type PinOptions,
  type Session,
  type TrustOptions,
} from './session/session.ts'
export type { Compaction, MessageSeed, SessionHistory } from './session/session-history.ts'
export {
  type ContextUsage,
  type CycleOptions,
  contextUsageOf,
  type ProviderInUse,
  type UsageOptions,
} from './session/session-models.ts'
