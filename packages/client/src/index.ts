export { combineQueueEntriesToText } from '@holdfast/protocol'
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
export type { Compaction, MessageSeed, SessionHistory } from './session-history.ts'
