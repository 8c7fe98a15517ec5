import { z } from 'zod'
import { fault } from '../value/fault.ts'
import { FolderPath } from '../value/id.ts'
import { ok, type Result, refuse } from '../value/result.ts'
import { Permission } from '../value/settings.ts'

const idCharsMax = 200

/** A rule of the user, for all sessions or for those of one workspace. */
export const PermissionRule = z.strictObject({
  ...Permission.shape,
  /** The folder whose sessions it applies to. Absent: all sessions. */
  workspace: z.string().min(1, 'give a folder, or leave it out: the rule applies everywhere then').max(4096).optional(),
})
export type PermissionRule = z.infer<typeof PermissionRule>

/** A stored rule of the user. */
export const ListedPermission = z.object({
  /** The id to remove it with. */
  id: z.string(),
  ...PermissionRule.shape,
})
export type ListedPermission = z.infer<typeof ListedPermission>

/** The rules of the user. */
export const PermissionList = z.object({
  /** In the order in which they were added. */
  permissions: z.array(ListedPermission),
})
export type PermissionList = z.infer<typeof PermissionList>

/** Which rules to list. */
export type PermissionListOptions = {
  /** Only the rules that apply to sessions of this folder; with an empty text, to sessions without a folder. */
  readonly workspace?: string | undefined
}

export const PermissionListOptions = z.strictObject({ workspace: FolderPath.optional() })

/** Parses the id of a rule. Refused: not_found. */
export function parseRuleId(given: unknown): Result<string> {
  if (typeof given === 'string' && given !== '' && given.length <= idCharsMax && given.isWellFormed()) return ok(given)
  return refuse(fault('not_found', 'There is no rule with this id. `holdfast permissions` lists the rules.'))
}

/** The rules of the user: lists and changes them. */
export interface PermissionRules {
  /** Lists the rules: all of them, or those that apply to sessions of a folder. */
  list(options?: PermissionListOptions): Promise<Result<readonly ListedPermission[]>>
  /** Adds a rule, which applies to every session from its next call on. Refused: bad_request for one that allows everything. */
  add(rule: PermissionRule): Promise<Result<ListedPermission>>
  /** Removes a rule and returns it. Refused: not_found. */
  remove(id: string): Promise<Result<ListedPermission>>
}
