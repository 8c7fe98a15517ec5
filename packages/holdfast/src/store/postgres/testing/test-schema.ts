import { orThrow } from '@holdfast/protocol'
import { type PostgresServer, startPostgres } from '@holdfast/testkit/postgres'
import { afterAll, beforeAll } from 'vitest'
import { connect, type Database } from '../connect/connect.ts'
import { type PostgresLocation, parsePostgresUrl } from '../connect/postgres-url.ts'
import { openPostgresStore, type PostgresStore } from '../postgres-store.ts'

/** Starts a server for the tests of a file. */
export function useServer(): () => PostgresServer {
  let server: PostgresServer | null = null
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.close())
  return () => {
    if (server === null) throw new Error('the server runs only during tests')
    return server
  }
}

let schemas = 0

/** Returns a location with an empty schema. */
export function newLocation(server: { url(schema: string): string }): PostgresLocation {
  schemas += 1
  return locationOf(server, `store_${schemas}`)
}

export const locationOf = (server: { url(schema: string): string }, schema: string): PostgresLocation =>
  orThrow(parsePostgresUrl(`${server.url(schema)}&durability=unchecked`))

/** Runs work with a connection of its own, beside the store. */
export async function withDatabase<Value>(
  location: PostgresLocation,
  work: (database: Database) => Promise<Value>,
): Promise<Value> {
  const database = await connect(location)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Opens a store in a schema that earlier tests used, without their rows: faster than another schema for each test. */
export async function openEmpty(
  server: { url(schema: string): string },
  options: Parameters<typeof openPostgresStore>[1] = {},
): Promise<PostgresStore & { readonly location: PostgresLocation }> {
  const location = locationOf(server, 'reused')
  const opened = orThrow(await openPostgresStore(location, options))
  await withDatabase(location, async ({ read, write }) => {
    const rows = await read(
      `select tablename from pg_tables where schemaname = $1 and tablename not in ('store', 'chunk')`,
      [location.schema],
    )
    // Blobs first: they refer to their content.
    const names = rows.map(({ tablename }) => String(tablename)).toSorted()
    await write(names.map((name) => `delete from @${name}`).join(';'))
  })
  return { ...opened, location }
}
