import type { EncodedRecord, ObservedText, Observer } from '@holdfast/core/ports'
import type { Recorded, SessionId } from '@holdfast/protocol'
import { type Context, context, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { names, ownNames, scope } from './attributes.ts'
import { createMeters } from './meters.ts'
import {
  endStep,
  endTurn,
  type ModelCall,
  type ModelCallEnd,
  type OpenTurn,
  runWithin,
  settleCall,
  startCall,
  startModelCall,
  startStep,
  startTurn,
} from './turn-span.ts'

export type SessionSpans = Required<Omit<Observer, 'answered' | 'storage'>>

/** Creates spans and metrics of every turn with the OpenTelemetry API, from records only. Does nothing without an SDK. */
export function createSessionSpans(): SessionSpans {
  const deps = { tracer: trace.getTracer(scope), meters: createMeters() }
  const turns = createOpenTurns((session, turn, parent) => startTurn(deps, { session, turn, parent }))
  const stepOf = (session: SessionId) => turns.get(session)?.step

  return {
    recorded(session, records) {
      for (const { record } of records) turns.follow(session, record, records[0])
    },
    answering(session, step) {
      const running = stepOf(session)
      if (running?.id === step) running.call.answering()
    },
    retrying(session, step, { tries, fault, waitMs }) {
      const running = stepOf(session)
      if (running?.id !== step) return
      const about = { [ownNames.tries]: tries, [ownNames.waitMs]: waitMs, [names.errorType]: fault.kind }
      running.call.span.addEvent('holdfast.retry', about)
    },
    left: (session) => turns.leave(session),
    during(session, work, run) {
      if (work.type === 'run-tool') {
        const turn = turns.open(session)
        return runWithin(turn ? startCall(turn, work.call, work.tool) : undefined, run)
      }
      // A model may be called before the record that starts its step is durable.
      if (work.type === 'call-model') turns.beginStep(session, work.step, work.model)
      return runWithin(work.type === 'call-model' ? stepOf(session)?.call.context : turns.get(session)?.context, run)
    },
    asking(session, model, ask) {
      const parent = turns.get(session)?.context ?? context.active()
      return askWithin(startModelCall({ ...deps, session, model, parent }), ask)
    },
  }
}

type StartTurn = (session: SessionId, turn: number | undefined, parent: Context) => OpenTurn | null

/** Tracks the running turn of each session by its records. */
function createOpenTurns(start: StartTurn) {
  const turns = new Map<SessionId, OpenTurn>()

  function begin(...args: Parameters<StartTurn>): OpenTurn | null {
    const turn = start(...args)
    if (turn) turns.set(turn.session, turn)
    return turn
  }
  /** Returns the open turn. A turn that another process started gets its own span here. */
  const open = (session: SessionId, turn?: number) => turns.get(session) ?? begin(session, turn, ROOT_CONTEXT)

  return {
    get: (session: SessionId) => turns.get(session),
    open,
    beginStep(session: SessionId, step: number, model: string): void {
      const turn = turns.get(session)
      if (turn && turn.step?.id !== step) startStep(turn, step, model)
    },
    follow(session: SessionId, { seq, event }: Recorded, first: EncodedRecord | undefined): void {
      if (event.type === 'turn.started') begin(session, event.turn, parentOf(first))
      const turn = event.type === 'step.started' ? open(session, event.turn) : turns.get(session)
      if (!turn) return
      if (event.type === 'step.started') {
        if (turn.step?.id !== seq) startStep(turn, seq, event.model)
      } else if (event.type === 'step.ended') endStep(turn, event)
      else if (event.type === 'call.settled') settleCall(turn, event)
      else if (event.type === 'turn.ended') {
        turns.delete(session)
        endTurn(turn, event.reason, event.fault?.kind)
      }
    },
    leave(session: SessionId): void {
      const turn = turns.get(session)
      turns.delete(session)
      if (turn) endTurn(turn, 'interrupted')
    },
  }
}

/** Returns the parent span: the caller's if a command started the turn, none for a queued prompt. */
const parentOf = (first: EncodedRecord | undefined): Context =>
  first?.record.commandId === undefined ? ROOT_CONTEXT : context.active()

async function askWithin<Written extends ObservedText>(call: ModelCall, ask: () => Promise<Written>): Promise<Written> {
  let ended: ModelCallEnd = { error: 'interrupted' }
  try {
    const written = await runWithin(call.context, ask)
    ended = 'usage' in written ? { usage: written.usage } : { error: '_OTHER' }
    return written
  } finally {
    call.end(ended)
  }
}
