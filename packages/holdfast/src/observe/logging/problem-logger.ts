import type { OnProblem } from '@holdfast/core/ports'
import { errorFields } from './error-fields.ts'
import type { Logger } from './logger.ts'

/** Writes down what nobody foresaw. */
export const createProblemLogger =
  (logger: Logger): OnProblem =>
  ({ where, cause }) =>
    logger.error({ where, err: errorFields(cause) }, 'problem')
