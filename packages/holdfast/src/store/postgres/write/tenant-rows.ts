import type { Tenants } from '@holdfast/core/ports'
import { done } from '@holdfast/protocol/result'
import { attempt, type Database } from '../connect/connect.ts'

/** A file that no prompt named for so long is stored again. */
const keptFor = `interval '7 days'`

/** Remembers which files each tenant stored. */
export const createTenants = ({ read, write }: Database): Tenants => ({
  addFile: (tenant, hash) =>
    attempt(async () => {
      await write(
        `with old as (delete from @tenant_file where at < clock_timestamp() - ${keptFor} and (tenant, hash) <> ($1, $2))
        insert into @tenant_file (tenant, hash) values ($1, $2)
        on conflict (tenant, hash) do update set at = clock_timestamp()`,
        [tenant, hash],
      )
      return done
    }),
  hasFile: async (tenant, hash) =>
    (await read('select 1 from @tenant_file where tenant = $1 and hash = $2', [tenant, hash])).length > 0,
})
