import { setTimeout as pause } from 'node:timers/promises'
import type { SessionId } from '@holdfast/protocol'
import type { Client } from 'pg'
import type { Database } from '../connect/connect.ts'
import type { PostgresLocation } from '../connect/postgres-url.ts'

/** How often the rows are compared without a notice: behind a pooler, none arrives. */
const compareMs = 2000
const reconnectMs = 500

type Wake = (sessions: readonly SessionId[] | 'compare') => void

/**
 * Follows the sessions whose rows changed. Notices come on a connection of its own, which must not be pooled. They only wake
 * this up early: after a lost connection, and every two seconds, the rows themselves are compared with a position.
 */
export async function* followChanges(
  location: PostgresLocation,
  database: Database,
  channel: string,
  signal: AbortSignal,
): AsyncGenerator<readonly SessionId[]> {
  const named = new Set<SessionId>()
  let isComparing = false
  let wake: (() => void) | null = null
  const onWake: Wake = (sessions) => {
    if (sessions === 'compare') isComparing = true
    else for (const id of sessions) named.add(id)
    wake?.()
  }
  const position = createPosition(database)
  let listener: ReturnType<typeof listen> | null = null
  const timer = setInterval(() => onWake('compare'), compareMs).unref()
  const leave = () => wake?.()
  signal.addEventListener('abort', leave)
  try {
    // Before anyone listens: what changes from here on is found in the rows, even if its notice gets lost.
    while (!(await position.start()) && !signal.aborted) await pause(reconnectMs, undefined, { ref: false })
    if (location.listen !== null) listener = listen(location.listen, channel, onWake)
    while (!signal.aborted) {
      const sessions = new Set(named)
      named.clear()
      if (isComparing) {
        isComparing = false
        for (const id of await position.next()) sessions.add(id)
      }
      if (sessions.size > 0) yield [...sessions]
      if (named.size > 0 || isComparing || signal.aborted) continue
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      wake = null
    }
  } finally {
    signal.removeEventListener('abort', leave)
    clearInterval(timer)
    await listener?.close()
  }
}

/**
 * Remembers up to which transaction the rows were read. Transactions end in another order than they begin, so a position is
 * the oldest one that was still running: a row may be returned twice, and none is missed.
 */
function createPosition({ read }: Database) {
  let position: string | null = null
  const statement = `select pg_snapshot_xmin(pg_current_snapshot())::text as position,
    array(select id from @session where $1::text is not null and age(xmin) <= age($1::xid8::xid)) as ids`
  async function next(): Promise<readonly SessionId[]> {
    try {
      const [row] = await read(statement, [position])
      const ids = position === null ? [] : (row?.['ids'] as readonly SessionId[]) // the column holds nothing else
      position = String(row?.['position'])
      return ids
    } catch {
      return [] // the next comparison reads on from the same position
    }
  }
  /** Takes the first position. False: the database does not answer. */
  async function start(): Promise<boolean> {
    await next()
    return position !== null
  }
  return { start, next }
}

/**
 * Listens on a connection of its own, and connects again when it is lost. Behind a pooler it does not listen: a connection that
 * others use would go on to listen, and the notices would not come here.
 */
function listen(connection: string, channel: string, onWake: Wake) {
  let client: Client | null = null
  let timer: NodeJS.Timeout | null = null
  let isClosed = false

  const retry = () => {
    client = null
    if (!isClosed) timer ??= setTimeout(() => void open(), reconnectMs).unref()
  }
  async function open(): Promise<void> {
    timer = null
    const { default: pg } = await import('pg')
    if (isClosed) return
    const own = new pg.Client({ connectionString: connection, keepAlive: true, connectionTimeoutMillis: 5000 })
    client = own
    own.on('error', () => undefined) // `end` follows
    own.on('end', retry)
    own.on('notification', ({ payload = '' }) =>
      // Ids of sessions, as nodes of this store send them.
      onWake(payload === '' ? 'compare' : (payload.split(' ') as SessionId[])),
    )
    try {
      await own.connect()
      if (await isPooled(own)) {
        isClosed = true
        await own.end()
        return
      }
      await own.query(`listen "${channel}"`)
      onWake('compare') // what changed before this connection listened
    } catch {
      await own.end().catch(() => undefined)
      retry()
    }
  }
  void open()
  return {
    async close(): Promise<void> {
      isClosed = true
      if (timer) clearTimeout(timer)
      await client?.end().catch(() => undefined)
    },
  }
}

/** Returns whether a pooler answers: it tells clients a process of its own, and not the one that runs their statements. */
async function isPooled(client: Client): Promise<boolean> {
  const { rows } = await client.query('select pg_backend_pid() as process')
  return rows[0]?.process !== processOf(client)
}

/** The driver has it from the beginning of the connection, and its types do not name it. */
const processOf = (client: Client): unknown => Reflect.get(client, 'processID')
