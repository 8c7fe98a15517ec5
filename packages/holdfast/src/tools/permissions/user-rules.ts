import type { PermissionRows } from '@holdfast/core/ports'
import { type ListedPermission, ok, type PermissionRule, type Result, refuse } from '@holdfast/protocol'
import { createPermissionFile, listed, noSuchRule } from '../../system/config/permission-file.ts'

/** Where the rules of the user are. */
export type RulePlaces = {
  /** The path of the rules of this machine. */
  readonly file: string
  /** Returns the rules of all nodes, if a store has them. It is asked when a rule is needed: the store may still be opening. */
  readonly shared?: (() => Promise<PermissionRows | undefined>) | undefined
}

/** Rules, or why they cannot be read. `isAway`: the store of all nodes does not answer now. */
export type FoundRules = Result<readonly ListedPermission[]> & { readonly isAway?: boolean }

/** The user's rules. Those of the file of this machine count beside those that all nodes share. */
export type UserRules = {
  /** Returns the rules as they are now. */
  read(): Promise<FoundRules>
  /** Adds a rule for all nodes, or in the file if the store has no rules. Returns it with its id. */
  add(rule: PermissionRule): Promise<Result<ListedPermission>>
  /** Removes a rule by its id, wherever it is, and returns it. Refused: not_found. */
  remove(id: string): Promise<Result<ListedPermission>>
}

export function createUserRules({ file, shared = async () => undefined }: RulePlaces): UserRules {
  const own = createPermissionFile(file)
  return {
    async read() {
      const [here, rows] = [await own.read(), await shared()]
      if (!here.ok || rows === undefined) return here
      const everywhere = await rows.rules()
      if (!everywhere.ok) return { ...everywhere, isAway: everywhere.fault.code === 'storage_error' }
      const known = new Set(everywhere.value.map(({ id }) => id))
      return ok([...everywhere.value, ...here.value.filter(({ id }) => !known.has(id))])
    },
    async add(rule) {
      const rows = await shared()
      if (rows === undefined) return own.add(rule)
      const added = await rows.addRule(listed(rule))
      return added.ok ? ok(listed(rule)) : added
    },
    async remove(id) {
      const rows = await shared()
      const removed = rows === undefined ? ok(null) : await rows.removeRule(id)
      if (!removed.ok) return removed
      const here = await own.remove(id)
      if (here.ok || here.fault.code !== 'not_found') return here
      return removed.value === null ? refuse(noSuchRule(id)) : ok(removed.value)
    },
  }
}
