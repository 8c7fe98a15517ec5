import { constants, fchmod, fstat, open } from 'node:fs'
import { promisify } from 'node:util'
import { fault } from '@holdfast/protocol/fault'
import { escapeHiddenInJson } from '@holdfast/protocol/hostile-text'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { pino, stdTimeFunctions } from 'pino'
import { maskKeys } from '../../system/secrets/known-keys.ts'
import { systemErrorCode, systemErrorWords } from '../../system/system-error.ts'
import { errorFields } from './error-fields.ts'
import { createLineWriter } from './line-writer.ts'
import type { Logger, LogLevel } from './logger.ts'

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants
const standardError = 2

const secretNames = ['authorization', 'cookie', '["set-cookie"]', '["x-api-key"]', '["x-goog-api-key"]', '["api-key"]']
const redacted = ['headers', '*.headers'].flatMap((holder) =>
  secretNames.map((name) => (name.startsWith('[') ? `${holder}${name}` : `${holder}.${name}`)),
)

export type OpenLoggerOptions = {
  readonly level: LogLevel
  /** The log file, readable by its owner only; standard error if absent. */
  readonly file?: string | undefined
  /** Called once when lines are lost. */
  readonly onLost: (message: string) => void
}

export interface OpenLogger {
  readonly logger: Logger
  /** Resolves when everything possible is written. */
  close(): Promise<void>
}

/** Opens a logger that writes JSON lines without blocking, with known keys masked. */
export async function openLogger({ level, file, onLost }: OpenLoggerOptions): Promise<Result<OpenLogger>> {
  const fd = file === undefined ? ok(standardError) : await openPrivate(file)
  if (!fd.ok) return fd
  let isTold = false
  const writer = createLineWriter({
    fd: fd.value,
    isOwned: file !== undefined,
    onFailed(error) {
      if (!isTold && systemErrorCode(error) !== 'EPIPE')
        onLost(`The log cannot be written: ${systemErrorWords(error)}.`)
      isTold = true // a closed pipe is not worth reporting
    },
  })
  const write = (line: string) => writer.write(escapeHiddenInJson(maskKeys(line)))
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => (error instanceof Error ? errorFields(error) : error) },
    redact: { paths: redacted, censor: '[redacted]' },
  }
  return ok({ logger: pino(options, { write }), close: writer.close })
}

async function openPrivate(file: string): Promise<Result<number>> {
  try {
    // O_NONBLOCK: fail on a pipe without a reader instead of waiting for one.
    const fd = await promisify(open)(file, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600)
    const found = await promisify(fstat)(fd)
    if (found.isFile()) await promisify(fchmod)(fd, 0o600) // regardless of the umask and of who created it
    return ok(fd)
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    const message = `The log cannot be written to ${file}: ${systemErrorWords(error)}. Change HOLDFAST_LOG_FILE.`
    return refuse(fault('storage_error', message, { path: file }))
  }
}
