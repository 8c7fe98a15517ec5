import type { ListedPermission, Result } from '@holdfast/protocol'

/**
 * The permission rules of a store that several nodes share, so that a rule counts at each of them. Stores of one machine have
 * none: there the rules are a file of the user.
 */
export interface PermissionRows {
  /** Returns all rules in the order in which they were added. Refused: storage_error. */
  rules(): Promise<Result<readonly ListedPermission[]>>
  /** Adds a rule, unless there is one with its id. Refused: bad_request if there are too many, storage_error. */
  addRule(rule: ListedPermission): Promise<Result<void>>
  /** Removes a rule and returns it; null if there is none with this id. Refused: storage_error. */
  removeRule(id: string): Promise<Result<ListedPermission | null>>
}
