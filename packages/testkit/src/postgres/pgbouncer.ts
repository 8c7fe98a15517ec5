import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pooler } from './pooler.ts'
import { findPostgres } from './postgres-binaries.ts'
import { guard, type PostgresServer, readUntil } from './postgres-server.ts'

const program = 'pgbouncer'

/** Whether the real PgBouncer is installed here, as by the package `pgbouncer` of Debian. */
export const hasPgBouncer = (): boolean => spawnSync(program, ['--version']).status === 0

/** Starts PgBouncer in transaction mode with `size` connections to the server, which take turns. */
export async function openPgBouncer(server: PostgresServer, size = 3): Promise<Pooler> {
  const { user } = await findPostgres() // it refuses to run as root too
  const directory = await mkdtemp(join(tmpdir(), 'hf-bouncer-'))
  await chmod(directory, 0o700)
  if (user.uid !== undefined && user.gid !== undefined) await chown(directory, user.uid, user.gid)
  const settings = [
    '[databases]',
    `postgres = host=${server.directory} port=5432 dbname=postgres user=holdfast`,
    '[pgbouncer]',
    'listen_addr =',
    'listen_port = 5432',
    `unix_socket_dir = ${directory}`,
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${size}`,
    'server_round_robin = 1',
  ]
  const file = join(directory, 'pgbouncer.ini')
  await writeFile(file, `${settings.join('\n')}\n`, { mode: 0o644 })
  const child = spawn('sh', ['-c', guard, 'sh', program, file], {
    ...user,
    cwd: directory,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  await readUntil(child, 'process up')
  return {
    url: (schema) => server.url(schema).replace(encodeURIComponent(server.directory), encodeURIComponent(directory)),
    async close() {
      const ended = once(child, 'exit')
      child.stdin.end()
      await ended
      await rm(directory, { recursive: true, force: true })
    },
  }
}
