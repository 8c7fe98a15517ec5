import type { PermissionRows } from '@holdfast/core/ports'
import type { ListedPermission } from '@holdfast/protocol'
import { done, ok, refuse } from '@holdfast/protocol/result'
import { rulesMax, tooManyRules } from '../../../system/config/rule-limit.ts'
import { attempt, type Database, type SqlRow } from '../connect/connect.ts'

const columns = 'id, tool, pattern, exact, verdict, workspace'

/** Keeps the permission rules that count at every node. */
export const createPermissionRows = ({ read, write }: Database): PermissionRows => ({
  rules: () => attempt(async () => ok((await read(`select ${columns} from @permission order by added`)).map(toRule))),
  addRule: ({ id, tool, pattern = null, exact = null, verdict, workspace = null }) =>
    attempt(async () => {
      const added = await write(
        `insert into @permission (${columns}) select $1, $2, $3, $4, $5, $6
        where (select count(*) from @permission) < ${rulesMax} on conflict do nothing returning id`,
        [id, tool, pattern, exact, verdict, workspace],
      )
      if (added.length > 0) return done
      const [known] = await read('select id from @permission where id = $1', [id])
      return known ? done : refuse(tooManyRules)
    }),
  removeRule: (id) =>
    attempt(async () => {
      const [row] = await write(`delete from @permission where id = $1 returning ${columns}`, [id])
      return ok(row === undefined ? null : toRule(row))
    }),
})

/** Returns the rule of a row without the fields that it does not have. */
const toRule = (row: SqlRow): ListedPermission =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as ListedPermission // its columns
