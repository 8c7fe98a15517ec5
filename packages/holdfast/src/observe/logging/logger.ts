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
