import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, readFile, rm } from 'node:fs/promises'
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
  /** Stops it and removes its directory. */
  close(): Promise<void>
}

export type PostgresServerOptions = {
  /** Settings, such as `{ max_connections: '20' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Whether commits wait for the disk; false by default, because most tests do not cut the power. */
  readonly isDurable?: boolean
}

/** Ends the server when its input ends: also if the process of the test is killed. */
const guard = '"$@" & server=$!; cat > /dev/null; kill -INT $server; wait $server'

/** Creates a database and starts a server for it. */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const { initdb, postgres, user } = await findPostgres()
  const directory = await mkdtemp(join(tmpdir(), 'hf-pg-'))
  await chmod(directory, 0o700)
  if (user.uid !== undefined && user.gid !== undefined) await chown(directory, user.uid, user.gid)
  const data = join(directory, 'data')
  const spawned = { ...user, cwd: directory, env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' } }
  await run(
    spawn(initdb, ['-D', data, '-U', 'holdfast', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'], spawned),
  )

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
    await readUntil(child, 'database system is ready to accept connections')
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
  return {
    directory,
    url: (schema) => `postgres://holdfast@localhost/postgres?host=${encodeURIComponent(directory)}&schema=${schema}`,
    pid: async () => Number((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[0]),
    start,
    stop,
    async close() {
      await stop()
      await rm(directory, { recursive: true, force: true })
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
function readUntil(child: ChildProcess, line: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let output = ''
  child.stderr?.on('data', (chunk) => {
    output = `${output}${chunk}`.slice(-8192)
    if (output.includes(line)) resolve()
  })
  child.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${output}`)))
  child.once('error', reject)
  return promise
}
