import type { Event } from '../event/event.ts'
import { limits } from '../value/limits.ts'
import type { FrameOf } from './frame.ts'

/** A part of the running answer, or the output of a running call, so far. */
export type LivePart = FrameOf<'draft'>['parts'][number]

/** Identifies the part a fragment belongs to. */
export type LivePosition = Omit<LivePart, 'text'>

const outputCharsMax = limits.toolOutputInlineBytesMax

/** Appends `text` to its part. Of long tool output only the end is kept. */
export function appendLive(live: readonly LivePart[], position: LivePosition, text: string): readonly LivePart[] {
  const { step, part, kind, call, tool } = position
  const at = live.findIndex((one) => one.step === step && one.part === part && one.call === call)
  const old = live[at]
  const whole = (old?.text ?? '') + text
  const grown: LivePart = {
    ...(old ?? { step, part, kind, ...(call !== undefined && { call }), ...(tool !== undefined && { tool }) }),
    text: kind === 'output' ? whole.slice(-outputCharsMax) : whole,
  }
  return old ? live.with(at, grown) : [...live, grown]
}

/** Removes the parts that `event` has recorded. */
export function dropRecorded(live: readonly LivePart[], event: Event): readonly LivePart[] {
  switch (event.type) {
    case 'step.ended':
      return live.filter(({ step, kind }) => step !== event.step || kind === 'output')
    case 'call.settled':
      return live.filter(({ call }) => call !== event.call)
    case 'turn.ended':
      return []
    default:
      return live
  }
}
