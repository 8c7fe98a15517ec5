import type { WorkspaceTrust } from '../../read-only-store.ts'
import { connect } from '../connect/connect.ts'
import type { PostgresLocation } from '../connect/postgres-url.ts'

/** Adds trusts to a store that exists. Those that it has stay. */
export async function addTrusts(location: PostgresLocation, trusts: readonly WorkspaceTrust[]): Promise<void> {
  const database = await connect(location)
  try {
    await database.write(
      `insert into @trust (workspace, tool, args_hash) select * from unnest($1::text[], $2::text[], $3::text[])
      on conflict do nothing`,
      [
        trusts.map(({ workspace }) => workspace),
        trusts.map(({ trust }) => trust.tool),
        trusts.map(({ trust }) => trust.argsHash ?? ''),
      ],
    )
  } finally {
    await database.close()
  }
}
