import { HoldfastError } from '@holdfast/protocol/fault'
import { type Result, refuse } from '@holdfast/protocol/result'
import type { Pool, PoolClient, PoolConfig } from 'pg'
import { patienceIn, untilBack } from './patience.ts'
import { faultOfPostgres, isConflict, isConnectionLoss } from './postgres-fault.ts'
import type { PostgresLocation } from './postgres-url.ts'

export type SqlRow = Readonly<Record<string, unknown>>
/** Runs one statement with parameters and returns its rows. `@name` is a table or function of the store's schema. */
export type Sql = (statement: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>

/**
 * The connections to a database. Every statement is a transaction of its own, without a name and without state of the
 * connection, so that a pooler may run each on another connection. Failures are thrown as `HoldfastError`.
 */
export interface Database {
  /** The URL without a password. */
  readonly name: string
  /**
   * Reads. After a lost connection, reads once more on another one, and waits for a database that has answered before as long
   * as an append does.
   */
  readonly read: Sql
  /** Writes. Repeats a transaction that was rolled back because of others. */
  readonly write: Sql
  /** Runs statements in one transaction. */
  transaction<Value>(work: (sql: Sql) => Promise<Value>): Promise<Value>
  /** Waits for running statements and closes the connections. */
  close(): Promise<void>
}

const attemptsMax = 5
const int8 = 20
const poolOptions = {
  max: 10,
  connectionTimeoutMillis: 10_000,
  idleTimeoutMillis: 30_000,
  // A statement of a stopped database never ends: its connection is closed after so long.
  query_timeout: 15_000,
  keepAlive: true,
  application_name: 'holdfast',
} satisfies PoolConfig

/** How many connections there are, and how long each may take to open or to answer. */
export type ConnectOptions = {
  readonly max?: number
  readonly connectionTimeoutMillis?: number
  readonly query_timeout?: number
}

/** Prepares connections; the first statement opens one. Loads the driver. */
export async function connect(
  { connection, url: name, schema, termMs }: PostgresLocation,
  options: ConnectOptions = {},
): Promise<Database> {
  const { default: pg } = await import('pg')
  // Counts and times of a store are safe integers.
  const types: PoolConfig['types'] = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === int8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
  }
  const pool = new pg.Pool({ connectionString: connection, types, ...poolOptions, ...options })
  // The pool drops an idle connection that fails, and the next statement opens another.
  pool.on('error', () => undefined)
  // The statement that runs reports the failure too.
  pool.on('connect', (client) => client.on('error', () => undefined))
  const inSchema = createExpander(schema)

  let [hasAnswered, isClosed] = [false, false]

  async function runOnce(statement: string, values: readonly unknown[]): Promise<readonly SqlRow[]> {
    const { rows } = await withClient(pool, (client) => client.query(inSchema(statement), [...values]))
    hasAnswered = true
    return rows
  }

  /** Repeats a statement that was rolled back because of others. */
  async function run(statement: string, values: readonly unknown[]): Promise<readonly SqlRow[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await runOnce(statement, values)
      } catch (error) {
        if (attempt >= attemptsMax || !isConflict(error)) throw error
      }
    }
  }

  const fail = (error: unknown): never => {
    throw new HoldfastError(faultOfPostgres(error, name))
  }
  const isAway = (error: unknown): boolean => !isClosed && isConnectionLoss(error)

  return {
    name,
    read: (statement, values = []) => {
      // One that never answered is more likely to be at another address: the person who starts the program should know at once.
      const patienceMs = hasAnswered ? patienceIn(termMs) : 0
      return untilBack(() => run(statement, values), isAway, { patienceMs }).catch(fail)
    },
    write: (statement, values = []) => run(statement, values).catch(fail),
    async transaction(work) {
      try {
        return await withClient(pool, (client) => inTransaction(client, inSchema, work))
      } catch (error) {
        throw error instanceof HoldfastError ? error : new HoldfastError(faultOfPostgres(error, name))
      }
    },
    close() {
      isClosed = true
      return pool.end()
    },
  }
}

async function withClient<Value>(pool: Pool, work: (client: PoolClient) => Promise<Value>): Promise<Value> {
  const client = await pool.connect()
  let failure: unknown = null
  try {
    return await work(client)
  } catch (error) {
    failure = error
    throw error
  } finally {
    client.release(failure !== null && isConnectionLoss(failure)) // a broken connection is not used again
  }
}

async function inTransaction<Value>(
  client: PoolClient,
  inSchema: (statement: string) => string,
  work: (sql: Sql) => Promise<Value>,
): Promise<Value> {
  await client.query('begin')
  try {
    const done = await work(
      async (statement, values = []) => (await client.query(inSchema(statement), [...values])).rows,
    )
    await client.query('commit')
    return done
  } catch (error) {
    await client.query('rollback').catch(() => undefined) // the first error is the one to report
    throw error
  }
}

/** Returns a function that replaces `@name` in a statement with the quoted name in the schema. */
function createExpander(schema: string): (statement: string) => string {
  const known = new Map<string, string>()
  return (statement) => {
    const found = known.get(statement) ?? statement.replace(/@([a-z_]+)/g, `"${schema}".$1`)
    known.set(statement, found)
    return found
  }
}

/** Returns the fault of a change instead of throwing it. */
export async function attempt<Value>(change: () => Promise<Result<Value>>): Promise<Result<Value>> {
  try {
    return await change()
  } catch (error) {
    if (error instanceof HoldfastError) return refuse(error.toFault())
    throw error
  }
}
