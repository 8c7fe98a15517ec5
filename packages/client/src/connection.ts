import type { Fault, SubscribeOptions } from '@holdfast/protocol'

/** How a subscription stands with its session. A screen shows it; nothing else depends on it. */
export type Connection =
  | { readonly state: 'connecting' }
  | { readonly state: 'live' }
  | { readonly state: 'waiting'; readonly retryMs: number; readonly fault: Fault | null }
  | { readonly state: 'ended'; readonly fault: Fault | null }

/** A subscription that also tells how it stands. A local handle has no connection and leaves `onConnection` alone. */
export type FollowOptions = SubscribeOptions & {
  readonly onConnection?: ((connection: Connection) => void) | undefined
}
