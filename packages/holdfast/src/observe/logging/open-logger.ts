import { close, constants, fchmod, fstat, open, write } from 'node:fs'
import { promisify } from 'node:util'
import { fault } from '@holdfast/protocol/fault'
import { escapeHiddenInJson } from '@holdfast/protocol/hostile-text'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { pino, stdTimeFunctions } from 'pino'
import { maskKeys } from '../../system/secrets/known-keys.ts'
import { systemErrorCode, systemErrorWords } from '../../system/system-error.ts'
import type { Logger, LogLevel } from './logger.ts'
import { errorFields } from './problems.ts'

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants
const standardError = 2

/** The most that is buffered for a slow reader; beyond it lines are dropped. */
const waitingBytesMax = 8 * 1024 * 1024
/** How long to wait before writing to a full pipe again. */
const fullPipeMs = 20
/** How long closing waits for a slow reader. */
const closeMsMax = 1000

const secretNames = ['authorization', 'cookie', '["set-cookie"]', '["x-api-key"]', '["x-goog-api-key"]', '["api-key"]']
const redacted = ['headers', '*.headers'].flatMap((holder) =>
  secretNames.map((name) => (name.startsWith('[') ? `${holder}${name}` : `${holder}.${name}`)),
)

type OpenLoggerOptions = {
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
  let isReported = false
  const writer = createLineWriter({
    fd: fd.value,
    isOwned: file !== undefined,
    onFailed(error) {
      if (!isReported && systemErrorCode(error) !== 'EPIPE')
        onLost(`The log cannot be written: ${systemErrorWords(error)}.`)
      isReported = true // a closed pipe is not worth reporting
    },
  })
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => (error instanceof Error ? errorFields(error) : error) },
    redact: { paths: redacted, censor: '[redacted]' },
  }
  return ok({
    logger: pino(options, { write: (line) => writer.write(escapeHiddenInJson(maskKeys(line))) }),
    close: writer.close,
  })
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

type LineWriterOptions = {
  readonly fd: number
  /** Whether to close the descriptor. */
  readonly isOwned: boolean
  /** Called for each failed write; its lines are lost. */
  readonly onFailed: (error: unknown) => void
}

/** Writes lines to a descriptor in order, without blocking. A failing disk loses lines. */
function createLineWriter({ fd, isOwned, onFailed }: LineWriterOptions) {
  let waiting: string[] = []
  let waitingBytes = 0
  let isWriting = false
  let isClosed = false
  let idle: (() => void) | null = null

  function begin(): void {
    if (isWriting) return
    if (waiting.length === 0) {
      idle?.()
      return
    }
    isWriting = true
    const bytes = Buffer.from(waiting.join(''))
    waiting = []
    waitingBytes = 0
    put(bytes)
  }

  function put(bytes: Buffer): void {
    write(fd, bytes, (error, written) => {
      if (error && systemErrorCode(error) === 'EAGAIN') return void setTimeout(put, fullPipeMs, bytes).unref()
      if (!error && written < bytes.length) return put(bytes.subarray(written))
      isWriting = false
      if (error) onFailed(error)
      begin()
    })
  }

  return {
    write(line: string): void {
      if (isClosed || waitingBytes > waitingBytesMax) return
      waiting.push(line)
      waitingBytes += line.length
      begin()
    },
    async close(): Promise<void> {
      if (isClosed) return
      isClosed = true
      if (isWriting || waiting.length > 0) {
        const { promise, resolve } = Promise.withResolvers<void>()
        idle = resolve
        const timer = setTimeout(resolve, closeMsMax)
        await promise
        clearTimeout(timer)
      }
      if (isOwned) await new Promise<void>((resolve) => close(fd, () => resolve()))
    },
  }
}
