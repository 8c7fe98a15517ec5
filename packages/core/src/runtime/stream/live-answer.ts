import {
  type CallId,
  dropRecorded,
  type Event,
  type FrameOf,
  growLive,
  type LivePart,
  type LivePlace,
  type SessionId,
  type StepId,
} from '@holdfast/protocol'

/** What a session's step has said and printed that is not on record yet. */
export interface LiveAnswer {
  /** Takes a fragment; the frame that shows it. */
  grow(place: LivePlace, text: string): FrameOf<'delta'>
  /** Forgets what a record now says. */
  drop(event: Event): void
  /** All of it, for one who comes late; null when there is nothing. */
  draft(): FrameOf<'draft'> | null
  /** What running calls have printed, as far as it is still held. */
  printed(): ReadonlyMap<CallId, string>
}

export function createLiveAnswer(sessionId: SessionId): LiveAnswer {
  let live: readonly LivePart[] = []
  let step: StepId | null = null
  let index = -1
  return {
    grow(place, text) {
      if (place.step !== step) {
        step = place.step
        index = -1
      }
      index++
      live = growLive(live, place, text)
      return { type: 'delta', sessionId, ...place, index, text }
    },
    drop(event) {
      live = dropRecorded(live, event)
    },
    draft: () =>
      step === null || live.length === 0 ? null : { type: 'draft', sessionId, step, index, parts: [...live] },
    printed: () =>
      new Map(live.flatMap(({ kind, call, text }) => (kind === 'output' && call !== undefined ? [[call, text]] : []))),
  }
}
