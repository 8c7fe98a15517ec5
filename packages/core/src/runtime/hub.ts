import {
  type CallId,
  type ClientId,
  dropRecorded,
  type Frame,
  type FrameOf,
  growLive,
  type LivePart,
  type LivePlace,
  type Role,
  type SessionId,
  type StepId,
  type StorageError,
} from '@holdfast/protocol'
import type { EncodedRecord } from '../ports/log.ts'
import { createSeats, type Seats } from './seats.ts'
import { createSubscription, type Subscription } from './subscription.ts'

/** Who joins; one without a name takes no seat. */
export type Who = { readonly client: ClientId | null; readonly role?: Role | undefined }

/** Tells every subscriber of one session what happened. A frame is one object for all of them, so it is encoded once. */
export interface Hub {
  /** How many subscriptions there are. */
  readonly size: number
  /** How many are attached: a client once, however many subscriptions it holds. */
  readonly attached: number
  readonly seats: Seats
  /** Only what is on stable storage: nobody may see what a crash could unsay. */
  publish(records: readonly EncodedRecord[]): void
  /** Live, and never stored. */
  show(place: LivePlace, text: string): void
  /** The store began to refuse what the session writes, or takes it again. */
  tellStorage(error: StorageError | null): void
  /** Joins now: from here on the subscription misses nothing. */
  join(who?: Who): Joined
  /** What running calls have printed, as far as it is still held. */
  printed(): ReadonlyMap<CallId, string>
  end(reason: FrameOf<'end'>['reason'], retryMs: number | null): void
}

export type Joined = {
  readonly subscription: Subscription
  readonly draft: FrameOf<'draft'> | null
  /** How the store stands, for one who comes back and may have missed it. */
  readonly storage: FrameOf<'storage'>
  leave(): void
}

const frameOverheadBytes = 160

export function createHub(sessionId: SessionId, changed: () => void): Hub {
  const subscriptions = new Set<Subscription>()
  let live: readonly LivePart[] = []
  let step: StepId | null = null
  let index = -1
  let nameless = 0
  let storage: FrameOf<'storage'> = { type: 'storage', sessionId, error: null }

  const send = (frame: Frame, bytes: number) => {
    for (const subscription of subscriptions) if (!subscription.push(frame, bytes)) subscriptions.delete(subscription)
  }
  const draft = (): FrameOf<'draft'> | null =>
    step === null || live.length === 0 ? null : { type: 'draft', sessionId, step, index, parts: [...live] }
  const endFrame = (reason: FrameOf<'end'>['reason'], retryMs: number | null): Frame => ({
    type: 'end',
    sessionId,
    reason,
    retryMs,
  })

  const seats = createSeats(() => {
    const frame: Frame = { type: 'presence', sessionId, clients: [...seats.all] }
    send(frame, frameOverheadBytes * (frame.clients.length + 1))
  })

  return {
    seats,
    get size() {
      return subscriptions.size
    },
    get attached() {
      return seats.all.length + nameless
    },

    publish(records) {
      for (const { record, body } of records) {
        live = dropRecorded(live, record.event)
        send({ type: 'record', sessionId, record }, body.length + frameOverheadBytes)
      }
    },

    show(place, text) {
      if (place.step !== step) {
        step = place.step
        index = -1
      }
      index++
      live = growLive(live, place, text)
      send({ type: 'delta', sessionId, ...place, index, text }, text.length + frameOverheadBytes)
    },

    tellStorage(error) {
      storage = { type: 'storage', sessionId, error }
      send(storage, (error?.message.length ?? 0) + frameOverheadBytes)
    },

    join({ client, role } = { client: null }) {
      const subscription = createSubscription(draft, () => endFrame('slow', 0))
      subscriptions.add(subscription)
      let isIn = true
      if (client === null) nameless += 1
      else seats.sit(client, role)
      changed()
      return {
        subscription,
        draft: draft(),
        storage,
        leave: () => {
          subscription.close()
          subscriptions.delete(subscription)
          if (!isIn) return
          isIn = false
          if (client === null) nameless -= 1
          else seats.leave(client)
          changed()
        },
      }
    },

    printed: () =>
      new Map(live.flatMap(({ kind, call, text }) => (kind === 'output' && call !== undefined ? [[call, text]] : []))),

    end(reason, retryMs) {
      for (const subscription of subscriptions) subscription.end(endFrame(reason, retryMs))
      subscriptions.clear()
    },
  }
}
