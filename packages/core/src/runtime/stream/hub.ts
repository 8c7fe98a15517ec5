import type { CallId, Frame, FrameOf, LivePlace, SessionId, StorageError } from '@holdfast/protocol'
import type { EncodedRecord } from '../../ports/log.ts'
import type { ModelReadiness } from '../../ports/provider.ts'
import { type AttachedClient, createAttachments } from './attachments.ts'
import { createDriverControl, type DriverControl } from './driver-control.ts'
import { createLiveAnswer } from './live-answer.ts'
import { modelStatus } from './model-status.ts'
import { createSubscription, type Subscription } from './subscription.ts'

type EndFrame = (reason: FrameOf<'end'>['reason'], retryMs: number | null) => FrameOf<'end'>

/** Tells every subscriber of one session what happened. A frame is one object for all of them, so it is encoded once. */
export interface Hub {
  /** How many subscriptions there are. */
  readonly size: number
  /** How many are attached: a client once, however many subscriptions it holds. */
  readonly attached: number
  readonly seats: DriverControl
  /** Only what is on stable storage: nobody may see what a crash could unsay. */
  publish(records: readonly EncodedRecord[]): void
  /** Live, and never stored. */
  show(place: LivePlace, text: string): void
  /** The store began to refuse what the session writes, or takes it again. */
  tellStorage(error: StorageError | null): void
  /** What is known of the session's model may be otherwise now. A record that sets another tells it by itself. */
  tellModel(): void
  /** Joins now: from here on the subscription misses nothing. */
  join(who?: AttachedClient): Joined
  /** What running calls have printed, as far as it is still held. */
  printed(): ReadonlyMap<CallId, string>
  end(...why: Parameters<EndFrame>): void
}

export type Joined = {
  readonly subscription: Subscription
  readonly draft: FrameOf<'draft'> | null
  /** How the store stands, for one who comes back and may have missed it. */
  readonly storage: FrameOf<'storage'>
  /** The same of its model. */
  readonly model: FrameOf<'model'>
  leave(): void
}

const frameOverheadBytes = 160

/** `model` is that of the session as it stands. */
export function createHub(sessionId: SessionId, changed: () => void, model: () => ModelReadiness): Hub {
  const subscriptions = new Set<Subscription>()
  const live = createLiveAnswer(sessionId)
  let storage: FrameOf<'storage'> = { type: 'storage', sessionId, error: null }

  const send = (frame: Frame, bytes: number) => {
    for (const subscription of subscriptions) if (!subscription.push(frame, bytes)) subscriptions.delete(subscription)
  }
  const endFrame: EndFrame = (reason, retryMs) => ({ type: 'end', sessionId, reason, retryMs })
  const modelFrame = (): FrameOf<'model'> => ({ type: 'model', sessionId, ...modelStatus(model()) })
  const tellModel = () => send(modelFrame(), frameOverheadBytes)
  const seats = createDriverControl(() => {
    const frame: Frame = { type: 'presence', sessionId, clients: [...seats.all] }
    send(frame, frameOverheadBytes * (frame.clients.length + 1))
  })
  const attendance = createAttachments(seats, changed)

  return {
    seats,
    get size() {
      return subscriptions.size
    },
    get attached() {
      return attendance.count
    },

    publish(records) {
      for (const { record, body } of records) {
        live.drop(record.event)
        send({ type: 'record', sessionId, record }, body.length + frameOverheadBytes)
        if (record.event.type === 'settings.changed' && record.event.model !== undefined) tellModel()
      }
    },
    show: (place, text) => send(live.grow(place, text), text.length + frameOverheadBytes),
    tellStorage(error) {
      storage = { type: 'storage', sessionId, error }
      send(storage, (error?.message.length ?? 0) + frameOverheadBytes)
    },
    tellModel,

    join(who = { client: null }) {
      const subscription = createSubscription(live.draft, () => endFrame('slow', 0))
      subscriptions.add(subscription)
      const stand = attendance.come(who)
      const leave = () => {
        subscription.close()
        subscriptions.delete(subscription)
        stand()
      }
      return { subscription, draft: live.draft(), storage, model: modelFrame(), leave }
    },
    printed: live.printed,
    end(reason, retryMs) {
      for (const subscription of subscriptions) subscription.end(endFrame(reason, retryMs))
      subscriptions.clear()
    },
  }
}
