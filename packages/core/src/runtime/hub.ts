import {
  type CallId,
  type Frame,
  type FrameOf,
  type LivePart,
  limits,
  type SessionId,
  type StepId,
} from '@holdfast/protocol'
import type { EncodedRecord } from '../ports/log.ts'
import { createSubscription, type Subscription } from './subscription.ts'

/** Where a fragment belongs. */
export type LivePlace = {
  readonly step: StepId
  readonly part: number
  readonly kind: LivePart['kind']
  readonly call?: CallId | undefined
  readonly tool?: string | undefined
}

/** Tells every subscriber of one session what happened. A frame is one object for all of them, so it is encoded once. */
export interface Hub {
  readonly size: number
  /** Only what is on stable storage: nobody may see what a crash could unsay. */
  publish(records: readonly EncodedRecord[]): void
  /** Live, and never stored. */
  show(place: LivePlace, text: string): void
  /** Joins now: from here on the subscription misses nothing. */
  join(): { readonly subscription: Subscription; readonly draft: FrameOf<'draft'> | null; leave(): void }
  /** What running calls have printed, as far as it is still held. */
  printed(): ReadonlyMap<CallId, string>
  end(reason: FrameOf<'end'>['reason'], retryMs: number | null): void
}

const frameOverheadBytes = 160
const outputShownCharsMax = limits.toolOutputInlineBytesMax

export function createHub(sessionId: SessionId, changed: () => void): Hub {
  const subscriptions = new Set<Subscription>()
  let live: LivePart[] = []
  let step: StepId | null = null
  let index = -1

  const send = (frame: Frame, bytes: number) => {
    for (const subscription of subscriptions) if (!subscription.push(frame, bytes)) subscriptions.delete(subscription)
  }
  const draft = (): FrameOf<'draft'> | null =>
    step === null || live.length === 0 ? null : { type: 'draft', sessionId, step, index, parts: live }
  const endFrame = (reason: FrameOf<'end'>['reason'], retryMs: number | null): Frame => ({
    type: 'end',
    sessionId,
    reason,
    retryMs,
  })

  return {
    get size() {
      return subscriptions.size
    },

    publish(records) {
      for (const { record, body } of records) {
        const { event } = record
        if (event.type === 'step.ended')
          live = live.filter((part) => part.step !== event.step || part.kind === 'output')
        if (event.type === 'call.settled') live = live.filter((part) => part.call !== event.call)
        if (event.type === 'turn.ended') live = []
        send({ type: 'record', sessionId, record }, body.length + frameOverheadBytes)
      }
    },

    show(place, text) {
      if (place.step !== step) {
        step = place.step
        index = -1
      }
      index++
      const { part, kind, call, tool } = place
      const named = {
        step: place.step,
        part,
        kind,
        ...(call !== undefined && { call }),
        ...(tool !== undefined && { tool }),
      }
      const at = live.findIndex((one) => one.step === place.step && one.part === part && one.call === call)
      const old = live[at]
      const whole = (old?.text ?? '') + text
      // Output may be endless; what a newcomer sees of it is its end.
      const grown: LivePart = { ...named, text: kind === 'output' ? whole.slice(-outputShownCharsMax) : whole }
      live = old ? live.with(at, grown) : [...live, grown]
      send({ type: 'delta', sessionId, ...named, index, text }, text.length + frameOverheadBytes)
    },

    join() {
      const subscription = createSubscription(draft, () => endFrame('slow', 0))
      subscriptions.add(subscription)
      return {
        subscription,
        draft: draft(),
        leave: () => {
          subscription.close()
          if (subscriptions.delete(subscription)) changed()
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
