import type { Observer } from '@holdfast/core/ports'
import { type CallId, clip, type EventOf, type ModelName, type Recorded, type SessionId } from '@holdfast/protocol'
import { faultFields } from './error-fields.ts'
import { isOn, type Logger } from './logger.ts'

type SessionLogger = Required<Omit<Observer, 'answering' | 'during'>>

/** Writes down what sessions do: names, numbers and reasons, and of what is said nothing but the arguments of calls, at debug. */
export function createSessionLogger(logger: Logger, now: () => number = () => performance.now()): SessionLogger {
  const records = createRecordLogger(logger, now)

  return {
    recorded(session, taken) {
      for (const { record } of taken) records.take(session, record)
    },
    retrying(session, _, { tries, fault, waitMs }) {
      const about = { session, ...records.stepOf(session), tries, waitMs, ...faultFields(fault) }
      logger.warn(about, 'model call is tried again')
    },
    answered(session, { commandId, command, by }, answer, ms) {
      const about = { session, commandId, command: command.type, by, ms }
      if (answer.ok) return logger.info(about, 'command taken')
      const { code, message } = answer.fault
      const level = code === 'internal' || code === 'storage_error' ? 'error' : 'info'
      logger[level]({ ...about, code, reason: message }, 'command refused')
    },
    storage(session, error) {
      if (error) logger.error({ session, code: error.reason, reason: error.message }, 'store refuses')
      else logger.info({ session }, 'store takes writes again')
    },
    left: records.forget,
    async asking(session, model, ask) {
      const startedMs = now()
      const written = await ask()
      const about = { session, model, ms: Math.round(now() - startedMs) }
      if ('failed' in written) logger.warn({ ...about, reason: written.failed }, 'model wrote no text')
      else logger.info({ ...about, usage: written.usage }, 'model wrote a text')
      return written
    },
  }
}

const argsCharsMax = 2_000

type Step = { readonly model: ModelName; readonly attempt: number }

/** The open step and calls of a session, logged when they end. */
type Running = {
  step: (Step & { readonly startedMs: number }) | null
  readonly tools: Map<CallId, string>
}

/** Logs turns, model calls and tool calls from the records of sessions. */
interface RecordLogger {
  take(session: SessionId, recorded: Recorded): void
  /** Returns the model and attempt of the running step. */
  stepOf(session: SessionId): Step | null
  /** Forgets a session that no longer runs here. */
  forget(session: SessionId): void
}

function createRecordLogger(logger: Logger, now: () => number): RecordLogger {
  const sessions = new Map<SessionId, Running>()
  const runningOf = (session: SessionId): Running => {
    const running = sessions.get(session) ?? { step: null, tools: new Map() }
    sessions.set(session, running)
    return running
  }

  function startStep(session: SessionId, { turn, model, attempt }: EventOf<'step.started'>): void {
    runningOf(session).step = { model, attempt, startedMs: now() }
    logger.debug({ session, turn, model, attempt }, 'model call started')
  }

  function endStep(session: SessionId, { turn, finish, usage, fault, fallback }: EventOf<'step.ended'>): void {
    const running = runningOf(session)
    const { step } = running
    running.step = null
    const known = step && { model: step.model, attempt: step.attempt, ms: Math.round(now() - step.startedMs) }
    const about = { session, turn, ...known, finish, fallback, usage }
    if (fault) logger.warn({ ...about, ...faultFields(fault) }, 'model call failed')
    else logger.info(about, 'model call ended')
  }

  function requestCall(session: SessionId, call: CallId, { tool, args }: EventOf<'call.requested'>): void {
    runningOf(session).tools.set(call, tool)
    if (isOn(logger, 'debug'))
      logger.debug({ session, call, tool, args: clip(JSON.stringify(args), argsCharsMax) }, 'tool call requested')
  }

  function settleCall(session: SessionId, { call, outcome, durationMs: ms }: EventOf<'call.settled'>): void {
    const { tools } = runningOf(session)
    const code = 'code' in outcome ? outcome.code : undefined
    logger.info({ session, call, tool: tools.get(call), outcome: outcome.type, code, ms }, 'tool call settled')
    tools.delete(call)
  }

  return {
    take(session, { seq, event }) {
      if (event.type === 'turn.started') logger.info({ session, turn: event.turn, cause: event.cause }, 'turn started')
      else if (event.type === 'step.started') startStep(session, event)
      else if (event.type === 'step.ended') endStep(session, event)
      else if (event.type === 'call.requested')
        requestCall(session, seq as CallId, event) // a call is named by its seq
      else if (event.type === 'call.settled') settleCall(session, event)
      else if (event.type === 'turn.ended') logTurnEnd(logger, session, event)
    },
    stepOf(session) {
      const step = sessions.get(session)?.step
      return step ? { model: step.model, attempt: step.attempt } : null
    },
    forget: (session) => void sessions.delete(session),
  }
}

function logTurnEnd(logger: Logger, session: SessionId, { turn, reason, fault }: EventOf<'turn.ended'>): void {
  if (fault) logger.warn({ session, turn, end: reason, ...faultFields(fault) }, 'turn failed')
  else logger.info({ session, turn, end: reason }, 'turn ended')
}
