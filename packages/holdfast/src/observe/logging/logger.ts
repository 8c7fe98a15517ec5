import { fault } from '@holdfast/protocol/fault'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import type { Environment } from '../../system/home.ts'

/** From the most to the least important. */
export const logLevels = ['error', 'warn', 'info', 'debug', 'trace'] as const
export type LogLevel = (typeof logLevels)[number]

/** A pino logger, or an object of the same shape. */
export interface Logger {
  error(fields: object, message: string): void
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
  debug(fields: object, message: string): void
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
