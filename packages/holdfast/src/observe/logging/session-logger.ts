import type { Observer } from '@holdfast/core/ports'
import { type CallId, clip, type ModelName, type Recorded, type SessionId } from '@holdfast/protocol'
import { isOn, type Logger } from './logger.ts'
import { faultFields } from './problems.ts'

const argsCharsMax = 2_000

/** The open step and calls of a session, logged when they end. */
type Running = {
  step: { readonly model: ModelName; readonly attempt: number; readonly startedMs: number } | null
  readonly tools: Map<CallId, string>
}

/** Logs names, numbers and reasons of commands, turns and calls; of the conversation only call arguments, at debug. */
export function createSessionLogger(logger: Logger) {
  const sessions = new Map<SessionId, Running>()
  const runningOf = (session: SessionId): Running => {
    const running = sessions.get(session) ?? { step: null, tools: new Map() }
    sessions.set(session, running)
    return running
  }

  return {
    recorded(session, records) {
      for (const { record } of records) logRecord(logger, () => runningOf(session), session, record)
    },
    retrying(session, _, { tries, fault, waitMs }) {
      const { startedMs, ...step } = sessions.get(session)?.step ?? {}
      logger.warn({ session, ...step, tries, waitMs, ...faultFields(fault) }, 'model call is tried again')
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
    left: (session) => void sessions.delete(session),
    async asking(session, model, ask) {
      const startedMs = performance.now()
      const written = await ask()
      const about = { session, model, ms: msSince(startedMs) }
      if ('failed' in written) logger.warn({ ...about, reason: written.failed }, 'model wrote no text')
      else logger.info({ ...about, usage: written.usage }, 'model wrote a text')
      return written
    },
  } satisfies Observer
}

function logRecord(logger: Logger, getRunning: () => Running, session: SessionId, { seq, event }: Recorded) {
  switch (event.type) {
    case 'turn.started':
      return logger.info({ session, turn: event.turn, cause: event.cause }, 'turn started')
    case 'turn.ended': {
      const { turn, reason, fault } = event
      if (fault) return logger.warn({ session, turn, end: reason, ...faultFields(fault) }, 'turn failed')
      return logger.info({ session, turn, end: reason }, 'turn ended')
    }
    case 'step.started': {
      const { turn, model, attempt } = event
      getRunning().step = { model, attempt, startedMs: performance.now() }
      return logger.debug({ session, turn, model, attempt }, 'model call started')
    }
    case 'step.ended': {
      const { turn, finish, usage, fault, fallback } = event
      const running = getRunning()
      const { startedMs, ...step } = running.step ?? {}
      running.step = null
      const ms = startedMs === undefined ? {} : { ms: msSince(startedMs) }
      const about = { session, turn, ...step, ...ms, finish, fallback, usage }
      if (fault) return logger.warn({ ...about, ...faultFields(fault) }, 'model call failed')
      return logger.info(about, 'model call ended')
    }
    case 'call.requested': {
      const call = seq as CallId // a call is named by its seq
      const { tool, args } = event
      getRunning().tools.set(call, tool)
      if (!isOn(logger, 'debug')) return
      return logger.debug(
        { session, call, tool, args: clip(JSON.stringify(args), argsCharsMax) },
        'tool call requested',
      )
    }
    case 'call.settled': {
      const { call, outcome, durationMs: ms } = event
      const { tools } = getRunning()
      const code = 'code' in outcome ? outcome.code : undefined
      logger.info({ session, call, tool: tools.get(call), outcome: outcome.type, code, ms }, 'tool call settled')
      tools.delete(call)
    }
  }
}

const msSince = (startedMs: number) => Math.round(performance.now() - startedMs)
