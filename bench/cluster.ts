import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@holdfast/testkit/postgres'
import { benchManySessions, benchOneSession } from './cluster/appends.ts'
import { benchManyNodes } from './cluster/many-sessions.ts'
import { benchNodes } from './cluster/nodes.ts'
import { benchTenThousand } from './cluster/ten-thousand.ts'
import { printRows } from './table.ts'

// Three nodes on one PostgreSQL of this machine, whose commits wait for the disk. `--quick` shows only that all runs.
const isQuick = process.argv.includes('--quick')
const dir = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-bench-cluster-')))
const server = await startPostgres({ isDurable: true, settings: { max_connections: '200' } })
try {
  printRows(await benchOneSession(server, isQuick ? 2 : 30))
  printRows(await benchManySessions(server, 64, isQuick ? 1 : 10))
  printRows(await benchNodes(server, dir, isQuick ? 1 : 4))
  printRows(await benchManyNodes(server, dir, isQuick ? { each: 10, seconds: 1 } : { each: 200, seconds: 10 }))
  printRows(await benchTenThousand(server, isQuick ? 200 : 10_000))
} finally {
  await server.close()
  await rm(dir, { recursive: true, force: true })
}
