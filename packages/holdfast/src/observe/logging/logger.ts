import { errorMessage, fault } from '@holdfast/protocol/fault'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import type { Environment } from '../../system/home.ts'
import { maskKeys } from '../../system/secrets/known-keys.ts'

/** From the most to the least important. */
export const logLevels = ['error', 'warn', 'info', 'debug', 'trace'] as const
export type LogLevel = (typeof logLevels)[number]

/** A pino logger, or an object of the same shape. */
export interface Logger {
  /** Logs a failure that a person should look at. */
  error(fields: object, message: string): void
  /** Logs a problem that was handled. */
  warn(fields: object, message: string): void
  /** Logs a normal event, such as the start of a session. */
  info(fields: object, message: string): void
  /** Logs details, such as each model call. */
  debug(fields: object, message: string): void
  /** Logs everything else. */
  trace(fields: object, message: string): void
  /** Returns whether a level is written; if absent, every level is. */
  isLevelEnabled?(level: string): boolean
}

export const isOn = (logger: Logger, level: LogLevel): boolean => logger.isLevelEnabled?.(level) ?? true

type LogSetting = LogLevel | 'off'

const settings: readonly LogSetting[] = ['off', ...logLevels]

/** Parses `HOLDFAST_LOG`; empty counts as unset. */
export function logSettingOf(environment: Environment, byDefault: LogSetting): Result<LogSetting> {
  const given = environment['HOLDFAST_LOG'] || byDefault
  const found = settings.find((setting) => setting === given)
  if (found !== undefined) return ok(found)
  const hint = didYouMean(given, settings)
  const message = `HOLDFAST_LOG is ${settings.join(', ')}, not '${escapeLine(given)}'.${hint}`
  return refuse(fault('bad_request', message, { name: 'HOLDFAST_LOG' }))
}

const depthMax = 8

/** Wraps a program's logger: masks known keys, and turns its errors into process warnings. */
export function createMaskedLogger(logger: Logger): Logger {
  const write = (level: LogLevel) => (fields: object, message: string) => {
    try {
      if (isOn(logger, level)) logger[level](Object(masked(fields, 0)), maskKeys(message))
    } catch (cause) {
      const reason = errorMessage(cause)
      process.emitWarning(maskKeys(`the log cannot be written: ${reason}`), 'HoldfastProblem')
    }
  }
  return {
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    trace: write('trace'),
    isLevelEnabled: (level) => logger.isLevelEnabled?.(level) ?? true,
  }
}

function masked(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return maskKeys(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= depthMax) return '…'
  if (Array.isArray(value)) return value.map((one) => masked(one, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, masked(one, depth + 1)]))
}
