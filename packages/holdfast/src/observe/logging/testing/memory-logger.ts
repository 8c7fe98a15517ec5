import { type Logger, type LogLevel, logLevels } from '../logger.ts'

type KeptLine = { readonly level: LogLevel; readonly message: string; readonly fields: Record<string, unknown> }

/** A logger that stores its lines, for tests. */
export function createKeptLogger(level: LogLevel = 'trace'): {
  readonly logger: Logger
  readonly lines: readonly KeptLine[]
} {
  const lines: KeptLine[] = []
  const kept: readonly string[] = logLevels.slice(0, logLevels.indexOf(level) + 1)
  const isLevelEnabled = (wanted: string) => kept.includes(wanted)
  const keep = (at: LogLevel) => (fields: object, message: string) => {
    if (isLevelEnabled(at)) lines.push({ level: at, message, fields: { ...fields } })
  }
  const logger = {
    error: keep('error'),
    warn: keep('warn'),
    info: keep('info'),
    debug: keep('debug'),
    trace: keep('trace'),
    isLevelEnabled,
  }
  return { logger, lines }
}
