import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSocketProxy, type PostgresServer, type SocketProxy, startPostgres } from '@holdfast/testkit/postgres'
import { type ServerProcess, startServerProcess } from '../../e2e/server-process.ts'

/** A node: a server process that reaches the database through a proxy of its own. */
export interface ClusterProcess {
  readonly name: string
  readonly proxy: SocketProxy
  /** Null while it is not running. */
  server: ServerProcess | null
  /** Set while it starts again. */
  starting: Promise<void> | null
}

export type ThreeNodes = {
  readonly database: PostgresServer
  readonly nodes: readonly ClusterProcess[]
  readonly token: string
  readonly schema: string
  start(node: ClusterProcess): Promise<void>
  kill(node: ClusterProcess): Promise<void>
  close(): Promise<void>
}

const token = 'a-token-of-the-cluster-for-tests'
const schema = 'cluster'
/** One node believes that it is two hours later. */
const skewed = 'const now = Date.now; Date.now = () => now() + 7_200_000'

/** Starts a database and three nodes. `termMs` is short, so that many faults fit into a test. */
export async function startThreeNodes(
  home: string,
  termMs: number,
  env: Readonly<Record<string, string>> = {},
): Promise<ThreeNodes> {
  const database = await startPostgres({ settings: { max_connections: '200' } })
  const preload = join(home, 'skewed.mjs')
  await writeFile(preload, skewed)
  const nodes = await Promise.all(
    ['a', 'b', 'c'].map(
      async (name): Promise<ClusterProcess> => ({
        name,
        proxy: await openSocketProxy(database),
        server: null,
        starting: null,
      }),
    ),
  )
  const start = async (node: ClusterProcess) => {
    const own = join(home, node.name)
    await mkdir(own, { recursive: true })
    node.server = await startServerProcess({
      home: own,
      args: ['--serves', `shared=${home}`, '--drain', '3'],
      env: {
        HOLDFAST_STORE: `${node.proxy.url(schema)}&durability=unchecked&term=${termMs}`,
        HOLDFAST_TOKEN: token,
        ...env,
      },
      ...(node.name === 'c' && { preload }),
    })
  }
  const cluster: ThreeNodes = {
    database,
    nodes,
    token,
    schema,
    start,
    async kill(node) {
      const { server } = node
      node.server = null
      await server?.kill()
    },
    async close() {
      await Promise.all(nodes.map(({ starting }) => starting))
      await Promise.all(nodes.map(({ server }) => server?.kill()))
      await Promise.all(nodes.map(({ proxy }) => proxy.close()))
      await database.close()
    },
  }
  const [first, ...others] = nodes
  try {
    if (first) await start(first)
    await Promise.all(others.map(start))
    return cluster
  } catch (cause) {
    await cluster.close()
    throw cause
  }
}
