import type { ClientId, Frame, NodeCall, NodeFollow, NodeNews, Result, Role } from '@holdfast/protocol'

/** The place of a client at the owner of a session, kept as long as the connection. */
export type HeldSeat = {
  /** The id of the attached client. */
  readonly client: ClientId
  /** The role it was given. */
  readonly role: Role
  /** Resolves when the seat is gone: it was left, or the owner ended. */
  readonly lost: Promise<void>
  /** Gives up the seat. */
  leave(): void
}

/** Another process that runs sessions of the same store. */
export interface OtherNode {
  /** Runs a method there. Refused: unreachable, session_locked if it does not own the session, what the method refuses. */
  call(request: NodeCall, signal: AbortSignal): Promise<Result<unknown>>
  /** Follows a session. Ends without an `end` frame when the connection breaks. */
  follow(request: NodeFollow, signal: AbortSignal): AsyncIterable<Frame>
  /** Attaches a client that does not follow. Refused: as `call`. */
  sit(request: NodeFollow, signal: AbortSignal): Promise<Result<HeldSeat>>
  /** Follows what happens to the sessions that this node runs. Ends when the connection breaks. */
  news(signal: AbortSignal): AsyncIterable<NodeNews>
}
