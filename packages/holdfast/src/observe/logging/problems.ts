import type { OnProblem, Problem } from '@holdfast/core/ports'
import type { ModelFault } from '@holdfast/protocol'
import { maskError, maskKeys } from '../../system/secrets/known-keys.ts'
import type { Logger } from './logger.ts'

const causesMax = 4

/** The fields of an error that are logged. Other properties are left out: they may be a whole request. */
type ErrorFields = {
  readonly type: string
  readonly message: string
  readonly stack?: string
  readonly code?: string
  readonly cause?: ErrorFields
}

export function errorFields(error: unknown, depth = 0): ErrorFields {
  if (!(error instanceof Error)) return { type: typeof error, message: describeThrown(error), ...codeOf(error) }
  const { name, message, stack, cause } = error
  return {
    type: name,
    message,
    ...(stack !== undefined && { stack }),
    ...codeOf(error),
    ...(cause !== undefined && depth < causesMax && { cause: errorFields(cause, depth + 1) }),
  }
}

const codeOf = (error: unknown) =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? { code: error.code }
    : {}

function describeThrown(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string')
    return value.message
  try {
    return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  } catch {
    return 'a value that cannot be serialized'
  }
}

/** Returns the log fields of a model fault. `detail` is the service's response with its status and request id. */
export const faultFields = ({ kind, message, detail }: ModelFault) => ({ kind, reason: message, detail })

/** Reports unexpected errors, with keys masked, to the listener and the log; without both, as process warnings. */
export function createProblems(listener: OnProblem | undefined, logger: Logger | undefined): OnProblem {
  const log = logger && createProblemLogger(logger)
  const notify = listener ?? (log ? undefined : emitWarning)
  return ({ where, cause }) => {
    const problem = { where: maskKeys(where), cause: maskError(cause) }
    log?.(problem)
    notify?.(problem)
  }
}

function emitWarning({ where, cause }: Problem): void {
  const what = cause instanceof Error ? (cause.stack ?? cause.message) : JSON.stringify(cause)
  process.emitWarning(`${where}: ${what}`, 'HoldfastProblem')
}

export const createProblemLogger =
  (logger: Logger): OnProblem =>
  ({ where, cause }) =>
    logger.error({ where, err: errorFields(cause) }, 'problem')
