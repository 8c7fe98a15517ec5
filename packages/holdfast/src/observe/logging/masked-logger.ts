import { maskKeys } from '../../system/secrets/known-keys.ts'
import { errorFields } from './error-fields.ts'
import type { Logger, LogLevel } from './logger.ts'

const depthMax = 8

/** Wraps a program's logger: masks known keys, and turns its errors into process warnings. */
export function createMaskedLogger(logger: Logger): Logger {
  const write = (level: LogLevel) => (fields: object, message: string) => {
    try {
      logger[level](Object(masked(fields, 0)), maskKeys(message))
    } catch (cause) {
      process.emitWarning(maskKeys(`the log cannot be written: ${errorFields(cause).message}`), 'HoldfastProblem')
    }
  }
  return {
    error: write('error'),
    warn: write('warn'),
    info: write('info'),
    debug: write('debug'),
    trace: write('trace'),
    ...(logger.isLevelEnabled && { isLevelEnabled: (level: string) => logger.isLevelEnabled?.(level) ?? true }),
  }
}

function masked(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return maskKeys(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= depthMax) return '…'
  if (Array.isArray(value)) return value.map((one) => masked(one, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, masked(one, depth + 1)]))
}
