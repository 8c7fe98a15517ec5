import type { EncodedRecord } from '../../ports/store/log.ts'
import { decide } from '../../session/decide.ts'
import type { Report } from '../../session/input.ts'
import { type Effect, type EffectOf, plan } from '../../session/plan.ts'
import type { SessionState } from '../../session/state.ts'
import { changesWindow } from '../effects/step-request.ts'
import { encodeAppend } from '../log/encode-append.ts'
import type { Folded } from '../log/load-session.ts'
import type { RunningSession } from './handle-input.ts'

/** A model call that was started before its step was decided, and the state that it was started for. */
export type ForeseenCall = {
  readonly call: EffectOf<'call-model'>
  readonly state: SessionState
  /** Tells the call when its step is durable. */
  readonly settle: (recorded: Promise<unknown>) => void
}

type Writing = { readonly records: readonly EncodedRecord[]; readonly written: Promise<unknown> }

/**
 * Returns a function that gets what the first step of a turn is prepared with, while its prompt is being written. It decides the
 * step as it will be decided then, and calls the model. `keepForeseen` compares when the step is really decided.
 */
export function createForesight(session: RunningSession, prompted: Folded, writing: Writing): (report: Report) => void {
  let isWritten = false
  const end = () => {
    isWritten = true
  }
  writing.written.then(end, end)
  return (report) => {
    const { options, performer, effects, closed } = session
    const isSafe = closed === null && effects.storage.error === null && session.foreseen === null
    // Once the prompt is durable, the step is decided at once.
    if (isWritten || !isSafe || report.type !== 'step.prepared') return
    const decided = decide(prompted.state, report)
    if (!decided.ok || decided.value.length === 0) return
    const { id: sessionId, epoch, deps } = options
    const batch = { atMs: deps.clock.now(), events: decided.value, commandId: null, by: null }
    const from = { session: sessionId, epoch, folded: prompted }
    const { append, next } = encodeAppend(from, { ...batch, payer: prompted.state.payer })
    const call = plan(next.state).find((effect) => effect.type === 'call-model')
    if (!call || changesWindow(append.records)) return
    const { promise: recorded, resolve: settle } = Promise.withResolvers<unknown>()
    session.foreseen = { call, state: next.state, settle }
    performer.startForeseen(call, { state: next.state, recorded, writing })
  }
}

/**
 * Keeps the foreseen call if the records that are being written lead to it and to the same request; ends it otherwise. Returns
 * its key, or null if there is none.
 */
export function keepForeseen(
  session: RunningSession,
  next: SessionState,
  planned: readonly Effect[],
  appending: Promise<unknown>,
): readonly string[] | null {
  const { foreseen, performer } = session
  if (foreseen === null) return null
  session.foreseen = null
  const { call, state, settle } = foreseen
  const isPlanned = planned.some((effect) => JSON.stringify(effect) === JSON.stringify(call))
  if (isPlanned && asked(next) === asked(state) && performer.keepForeseen(call.key)) {
    settle(appending)
    return [call.key]
  }
  performer.cancelEarly([call.key])
  return null
}

/** Ends the foreseen call, if there is one. */
export function cancelForeseen(session: RunningSession): void {
  if (session.foreseen) session.performer.cancelEarly([session.foreseen.call.key])
  session.foreseen = null
}

/** Returns all that a request depends on, besides the model. */
const asked = ({ context, line, seq, checkpoint, pins, origin }: SessionState): string =>
  JSON.stringify([context, line, seq, checkpoint, pins, origin?.providerOptions])
