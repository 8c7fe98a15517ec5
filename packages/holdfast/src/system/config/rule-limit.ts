import { fault } from '@holdfast/protocol/fault'

// Imports no schema: commands that only read a store load this.

/** The largest number of rules of a user, in a file or in a database. */
export const rulesMax = 1000

export const tooManyRules = fault('bad_request', `There are ${rulesMax} rules. Remove some first.`)
