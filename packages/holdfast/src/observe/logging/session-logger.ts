import type { Observer } from '@holdfast/core/ports'
import { faultFields } from './fault-fields.ts'
import type { Logger } from './logger.ts'
import { createRecordLogger } from './record-logger.ts'

export type SessionLogger = Required<Omit<Observer, 'answering' | 'during'>>

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
