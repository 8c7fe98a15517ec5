import type { Event } from '../event/event.ts'
import { limits } from '../value/limits.ts'
import type { FrameOf } from './frame.ts'

/** A part of the running answer, or the output of a running call, as far as it has come. */
export type LivePart = FrameOf<'draft'>['parts'][number]

/** Where a fragment belongs. */
export type LivePosition = Omit<LivePart, 'text'>

const outputCharsMax = limits.toolOutputInlineBytesMax

/** The parts with `text` added where it belongs. Output may be endless; of it the end is kept. */
export function appendLive(live: readonly LivePart[], place: LivePosition, text: string): readonly LivePart[] {
  const { step, part, kind, call, tool } = place
  const at = live.findIndex((one) => one.step === step && one.part === part && one.call === call)
  const old = live[at]
  const whole = (old?.text ?? '') + text
  const grown: LivePart = {
    ...(old ?? { step, part, kind, ...(call !== undefined && { call }), ...(tool !== undefined && { tool }) }),
    text: kind === 'output' ? whole.slice(-outputCharsMax) : whole,
  }
  return old ? live.with(at, grown) : [...live, grown]
}

/** The parts that are still live once `event` is on record. */
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
