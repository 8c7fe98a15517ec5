import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type PostgresServer, startPostgres } from '@holdfast/testkit/postgres'
import { benchManySessions, benchOneSession } from './cluster/appends.ts'
import { benchManyNodes } from './cluster/many-sessions.ts'
import { benchNodes } from './cluster/nodes.ts'
import { benchTenThousand } from './cluster/ten-thousand.ts'
import { printRows, type Row } from './table.ts'

// Three nodes on one PostgreSQL of this machine, whose commits wait for the disk: the named measurements, or all. `--quick` shows
// only that they run.
const { values, positionals } = parseArgs({ options: { quick: { type: 'boolean' } }, allowPositionals: true })
const isQuick = values.quick ?? false
const measurements: Readonly<Record<string, (server: PostgresServer, dir: string) => Promise<readonly Row[]>>> = {
  'one-session': (server) => benchOneSession(server, isQuick ? 2 : 30),
  'many-sessions': async (server) => [
    ...(await benchManySessions(server, { sessions: 64, seconds: isQuick ? 1 : 10, pauseMs: 0, p99Max: 25 })),
    ...(await benchManySessions(server, { sessions: 600, seconds: isQuick ? 3 : 20, pauseMs: 2000, p99Max: 50 })),
  ],
  nodes: (server, dir) => benchNodes(server, dir, isQuick ? 1 : 4),
  'many-nodes': (server, dir) =>
    benchManyNodes(server, dir, isQuick ? { each: 10, seconds: 1 } : { each: 200, seconds: 10 }),
  'ten-thousand': (server) => benchTenThousand(server, isQuick ? 200 : 10_000),
}
const unknown = positionals.find((name) => measurements[name] === undefined)
if (unknown !== undefined) {
  process.stderr.write(`There is no measurement ${unknown}. There are: ${Object.keys(measurements).join(', ')}.\n`)
  process.exit(2)
}
const dir = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-bench-cluster-')))
const server = await startPostgres({ isDurable: true, settings: { max_connections: '200' } })
try {
  for (const [name, run] of Object.entries(measurements))
    if (positionals.length === 0 || positionals.includes(name)) printRows(await run(server, dir))
} finally {
  await server.close()
  await rm(dir, { recursive: true, force: true })
}
