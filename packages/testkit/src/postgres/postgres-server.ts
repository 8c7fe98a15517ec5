import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPostgres } from './postgres-binaries.ts'

/** A PostgreSQL server for tests. Clients reach it by a socket in its own directory. */
export interface PostgresServer {
  /** Its directory, with the data and the socket. */
  readonly directory: string
  /** The URL of its database, with a schema of this name. */
  url(schema: string): string
  /** Returns the process id of the server, to send it signals. */
  pid(): Promise<number>
  /** Starts it again after it has ended. */
  start(): Promise<void>
  /** Ends it: connections are cut, and nothing is lost. */
  stop(): Promise<void>
  /** Ends it like a power cut of its machine: no last word to anyone. */
  kill(): Promise<void>
  /** Starts a standby that has every commit before the primary acknowledges it. */
  startStandby(): Promise<PostgresStandby>
  /** Stops it and removes its directory. */
  close(): Promise<void>
}

/** A server that follows another one. */
export type PostgresStandby = PostgresServer & {
  /** Makes it the primary, after the other one is gone. */
  promote(): Promise<void>
}

export type PostgresServerOptions = {
  /** Settings, such as `{ max_connections: '20' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Whether commits wait for the disk; false by default, because most tests do not cut the power. */
  readonly isDurable?: boolean
}

/** Ends a server when its input ends: also if the process of the test is killed. */
export const guard = '"$@" & server=$!; cat > /dev/null; kill -INT $server; wait $server'

/** Creates a database and starts a server for it. */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const { initdb } = await findPostgres()
  return startServer(options, async (data, spawned) => {
    const flags = ['-U', 'holdfast', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
    await run(spawn(initdb, ['-D', data, ...flags], spawned))
  })
}

type Spawned = { readonly cwd: string; readonly uid?: number; readonly gid?: number }

/** Starts a server on the data that `prepare` puts into a directory. */
async function startServer(
  options: PostgresServerOptions,
  prepare: (data: string, spawned: Spawned) => Promise<void>,
): Promise<PostgresServer> {
  const { postgres, user } = await findPostgres()
  const directory = await mkdtemp(join(tmpdir(), 'hf-pg-'))
  await chmod(directory, 0o700)
  if (user.uid !== undefined && user.gid !== undefined) await chown(directory, user.uid, user.gid)
  const data = join(directory, 'data')
  const spawned = { ...user, cwd: directory, env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' } }
  await prepare(data, spawned)

  const settings = {
    listen_addresses: '',
    unix_socket_directories: directory,
    ...(options.isDurable !== true && { fsync: 'off', full_page_writes: 'off' }),
    ...options.settings,
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let running: ChildProcess | null = null

  async function start(): Promise<void> {
    const child = spawn('sh', ['-c', guard, 'sh', postgres, '-D', data, ...flags], {
      ...spawned,
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    await readUntil(child, 'database system is ready to accept')
    running = child
  }

  async function stop(): Promise<void> {
    const child = running
    if (child === null) return
    running = null
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.stdin?.end()
    await ended
  }

  await start()
  const server: PostgresServer = {
    directory,
    url: (schema) => `postgres://holdfast@localhost/postgres?host=${encodeURIComponent(directory)}&schema=${schema}`,
    pid: async () => Number((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[0]),
    start,
    stop,
    async kill() {
      const child = running
      running = null
      process.kill(await server.pid(), 'SIGKILL')
      if (child === null) return
      const ended = once(child, 'exit')
      child.stdin?.end() // the guard waits for that, not for the server
      await ended
    },
    startStandby: () => startStandby(server, data, options),
    async close() {
      await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
  return server
}

/** Copies the data of a running server between `pg_backup_start` and `pg_backup_stop`, and lets a second one follow it. */
async function startStandby(
  primary: PostgresServer,
  primaryData: string,
  options: PostgresServerOptions,
): Promise<PostgresStandby> {
  const { default: pg } = await import('pg')
  const connectTo = async (server: PostgresServer) => {
    const client = new pg.Client({ connectionString: server.url('public').replace(/&schema=.*/, '') })
    client.on('error', () => undefined) // its server is killed
    await client.connect()
    return client
  }
  const admin = await connectTo(primary)
  const standby = await startServer(options, async (data, spawned) => {
    await admin.query(`select pg_backup_start('standby', true)`)
    const copied = [`cp -a ${primaryData} ${data}`, `rm -f ${data}/postmaster.pid`, `rm -rf ${data}/pg_wal/*`]
    await run(spawn('sh', ['-c', copied.join(' && ')], spawned))
    const { rows } = await admin.query('select labelfile from pg_backup_stop(false)')
    const followed = `primary_conninfo = 'host=${primary.directory} user=holdfast application_name=standby'\n`
    await Promise.all([
      writeFile(join(data, 'backup_label'), String(rows[0]?.labelfile)),
      writeFile(join(data, 'standby.signal'), ''),
      writeFile(join(data, 'postgresql.auto.conf'), followed),
    ])
    if (spawned.uid !== undefined) await run(spawn('chown', ['-R', `${spawned.uid}:${spawned.gid}`, data]))
  })
  await admin.query(`alter system set synchronous_standby_names = 'standby'`)
  await admin.query('select pg_reload_conf()')
  await admin.end()
  return {
    ...standby,
    async promote() {
      const client = await connectTo(standby)
      await client.query('alter system reset synchronous_standby_names')
      await client.query('select pg_promote(true, 30)')
      await client.end()
    },
  }
}

async function run(child: ChildProcess): Promise<void> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code}: ${output}`)
}

/** Waits for a line on standard error. Reads on, so that the program never waits for its reader. */
export function readUntil(child: ChildProcess, line: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let output = ''
  child.stderr?.on('data', (chunk) => {
    output = `${output}${chunk}`.slice(-8192)
    if (output.includes(line)) resolve()
  })
  child.once('exit', (code) => reject(new Error(`${child.spawnargs.join(' ')} ended with ${code}: ${output}`)))
  child.once('error', reject)
  return promise
}
