import type { OnProblem, Problem } from '@holdfast/core/ports'
import { maskError, maskKeys } from '../../system/secrets/known-keys.ts'
import { errorFields } from './error-fields.ts'
import type { Logger } from './logger.ts'

/** Whoever listens hears of problems, without any key, and the log keeps them. */
export function createProblems(heard: OnProblem | undefined, logger: Logger | undefined): OnProblem {
  const logged = logger && createProblemLogger(logger)
  const unheard = logged ? undefined : warnOfProblem
  return ({ where, cause }) => {
    const problem = { where: maskKeys(where), cause: maskError(cause) }
    logged?.(problem)
    ;(heard ?? unheard)?.(problem)
  }
}

/** A program that listens for no problems still sees them. */
function warnOfProblem({ where, cause }: Problem): void {
  const what = cause instanceof Error ? (cause.stack ?? cause.message) : JSON.stringify(cause)
  process.emitWarning(`${where}: ${what}`, 'HoldfastProblem')
}

/** Writes down what nobody foresaw. */
export const createProblemLogger =
  (logger: Logger): OnProblem =>
  ({ where, cause }) =>
    logger.error({ where, err: errorFields(cause) }, 'problem')
