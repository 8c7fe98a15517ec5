import type { OnProblem, Problem } from '@holdfast/core/ports'
import { maskError, maskKeys } from '../../system/secrets/known-keys.ts'
import { errorFields } from './error-fields.ts'
import type { Logger } from './logger.ts'

/** Reports unexpected errors, with keys masked, to the listener and the log; without both, as process warnings. */
export function createProblems(heard: OnProblem | undefined, logger: Logger | undefined): OnProblem {
  const logged = logger && createProblemLogger(logger)
  const unheard = logged ? undefined : warnOfProblem
  return ({ where, cause }) => {
    const problem = { where: maskKeys(where), cause: maskError(cause) }
    logged?.(problem)
    ;(heard ?? unheard)?.(problem)
  }
}

/** Emits a process warning, so that a program without a listener sees the problem. */
function warnOfProblem({ where, cause }: Problem): void {
  const what = cause instanceof Error ? (cause.stack ?? cause.message) : JSON.stringify(cause)
  process.emitWarning(`${where}: ${what}`, 'HoldfastProblem')
}

/** Logs unexpected errors. */
export const createProblemLogger =
  (logger: Logger): OnProblem =>
  ({ where, cause }) =>
    logger.error({ where, err: errorFields(cause) }, 'problem')
