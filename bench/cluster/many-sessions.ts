import { orThrow } from '@holdfast/protocol'
import type { PostgresServer } from '@holdfast/testkit/postgres'
import { connect } from '../../packages/holdfast/src/store/postgres/connect/connect.ts'
import { parsePostgresUrl } from '../../packages/holdfast/src/store/postgres/connect/postgres-url.ts'
import type { ServerProcess } from '../../test/e2e/server-process.ts'
import { startAudit } from '../../test/faults/cluster/check-logs.ts'
import { number, type Row } from '../table.ts'
import { percentile } from './appends.ts'
import { post, rename, startNode } from './nodes.ts'

const schema = 'many_nodes'
/** How long a session waits between two commands: people do not write faster. */
const pauseMs = 2000
const together = 16
const busyMax = 64

type Owned = { readonly node: ServerProcess; readonly session: string }

/**
 * Many sessions on three real nodes: what a command takes, sent to the owner over HTTP, and how soon all sessions of a killed
 * node take commands elsewhere. Afterwards no epoch of a session has had two owners.
 */
export async function benchManyNodes(
  server: PostgresServer,
  dir: string,
  { each, seconds }: { readonly each: number; readonly seconds: number },
): Promise<readonly Row[]> {
  const first = await startNode(server, dir, 'a', schema)
  await startAudit({ database: server, schema })
  const nodes = [first, await startNode(server, dir, 'b', schema), await startNode(server, dir, 'c', schema)]
  const owned = (await Promise.all(nodes.map((node) => startSessions(node, dir, each)))).flat()
  const some = owned.filter((_, index) => index % Math.ceil(owned.length / busyMax) === 0) // of all nodes
  // Before the other one, after which the nodes still read news and the database still writes pages.
  const paced = await measure(owned, seconds * 2, pauseMs)
  const busy = await measure(some, seconds, 0)

  await first.kill()
  const killedMs = performance.now()
  const moved = owned.filter(({ node }) => node === first)
  const [, ...left] = nodes
  await inGroups(moved, async ({ session }, index) => {
    const node = left[index % left.length] ?? first
    while ((await rename(node, session, 'Moved')).status !== 202);
  })
  const resumedMs = performance.now() - killedMs
  const doubled = await countDoubled(server)
  await Promise.all(left.map((node) => node.kill()))
  const p99 = percentile(paced, 0.99)
  return [
    {
      what: `${some.length} sessions on three real nodes, a command over HTTP, each after the other`,
      figure: `${number(busy.length / seconds)} /s, p50 ${number(percentile(busy, 0.5), 1)} ms, p99 ${number(percentile(busy, 0.99), 1)} ms`,
      goal: '',
      holds: null,
    },
    {
      what: `three nodes with ${each} sessions each, a command every ${pauseMs / 1000} s; one is killed`,
      figure: `p99 ${number(p99, 1)} ms; all resumed after ${number(resumedMs / 1000, 1)} s; ${doubled} epochs with two owners`,
      goal: 'p99 ≤ 50 ms, ≤ 10 s, none',
      holds: p99 <= 50 && resumedMs <= 10_000 && doubled === 0,
    },
  ]
}

/** Starts sessions at a node, which owns them. */
async function startSessions(node: ServerProcess, dir: string, count: number): Promise<readonly Owned[]> {
  const owned: Owned[] = []
  await inGroups(Array.from({ length: count }), async () => {
    const { json } = await post(node, '/v1/sessions', { workdir: dir, model: 'demo/agent', title: 'A session' })
    owned.push({ node, session: json.session?.id ?? '' })
  })
  return owned
}

/** Sends commands to the owners, one at a time for each session. Returns how long each took. */
async function measure(owned: readonly Owned[], seconds: number, waitMs: number): Promise<readonly number[]> {
  const times: number[] = []
  const untilMs = performance.now() + seconds * 1000
  await Promise.all(
    owned.map(async ({ node, session }, index) => {
      // They do not all begin at once.
      await pause((waitMs * index) / owned.length)
      for (let count = 0; performance.now() < untilMs; count++) {
        const sentMs = performance.now()
        await rename(node, session, `Title ${count}`)
        times.push(performance.now() - sentMs)
        await pause(waitMs)
      }
    }),
  )
  return times
}

const pause = (delayMs: number): Promise<void> =>
  delayMs === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, delayMs))

/** Runs work on all items, some of them at the same time. */
async function inGroups<Item>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const waiting = [...items.entries()]
  const next = async (): Promise<void> => {
    for (let one = waiting.shift(); one; one = waiting.shift()) await work(one[1], one[0])
  }
  await Promise.all(Array.from({ length: together }, next))
}

async function countDoubled(server: PostgresServer): Promise<number> {
  const { read, close } = await connect(orThrow(parsePostgresUrl(server.url(schema))))
  const rows = await read(`select id, epoch from @audit where owner is not null
    group by id, epoch having count(distinct owner) > 1`)
  await close()
  return rows.length
}
