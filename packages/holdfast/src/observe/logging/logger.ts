import { fault } from '@holdfast/protocol/fault'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { didYouMean } from '@holdfast/protocol/nearest'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import type { Environment } from '../../system/home.ts'

/** From what must be seen to what is seldom wanted. */
export const logLevels = ['error', 'warn', 'info', 'debug', 'trace'] as const
export type LogLevel = (typeof logLevels)[number]

/** Where lines go: a pino logger, or anything of that shape. */
export interface Logger {
  error(fields: object, message: string): void
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
  debug(fields: object, message: string): void
  trace(fields: object, message: string): void
  /** Whether a line of this level would be written; every one would when absent. */
  isLevelEnabled?(level: string): boolean
}

export const isOn = (logger: Logger, level: LogLevel): boolean => logger.isLevelEnabled?.(level) ?? true

type LogSetting = LogLevel | 'off'

const settings: readonly LogSetting[] = ['off', ...logLevels]

/** What `HOLDFAST_LOG` says; set to nothing is not set. */
export function logSettingOf(environment: Environment, byDefault: LogSetting): Result<LogSetting> {
  const given = environment['HOLDFAST_LOG'] || byDefault
  const found = settings.find((setting) => setting === given)
  if (found !== undefined) return ok(found)
  const hint = didYouMean(given, settings)
  const message = `HOLDFAST_LOG is ${settings.join(', ')}, not '${escapeLine(given)}'.${hint}`
  return refuse(fault('bad_request', message, { name: 'HOLDFAST_LOG' }))
}
