import { realpath } from 'node:fs/promises'
import { startClients } from '../cluster/busy-clients.ts'
import { checkLogs, startAudit } from '../cluster/check-logs.ts'
import { startThreeNodes } from '../cluster/three-nodes.ts'
import type { Row } from '../row.ts'

const termMs = 2000
/** How long there is no database: one that ends the terms of all nodes, and one through which what is sent only waits. */
const [longMs, shortMs] = [1.5 * termMs, 0]

/** The primary is killed while sessions work, and a synchronous standby takes its place. */
export const failover: Row = {
  name: 'G1',
  fault: 'kill -9 of PostgreSQL, failover to a synchronous standby',
  needs: [],
  async run({ isQuick, dice, home }) {
    const rounds = isQuick ? 1 : 20
    const violations: string[] = []
    let commands = 0
    for (let round = 0; round < rounds && violations.length === 0; round++) {
      const workdir = await realpath(home)
      const cluster = await startThreeNodes(workdir, termMs)
      await startAudit(cluster)
      const standby = await cluster.database.startStandby()
      const clients = await startClients(cluster, { workdir, sessions: 4, dice })
      try {
        await clients.progress()
        await new Promise((resolve) => setTimeout(resolve, dice.below(2000)))
        await cluster.database.kill()
        await new Promise((resolve) => setTimeout(resolve, round % 2 === 0 ? longMs : shortMs))
        await standby.promote()
        for (const { proxy } of cluster.nodes) proxy.redirect(standby)
        await clients.progress()
        await clients.stop()
        commands += clients.acknowledged.length
        violations.push(...clients.unexpected, ...(await checkLogs({ ...cluster, database: standby }, clients)))
      } finally {
        await clients.stop()
        await cluster.close()
        await standby.close()
      }
    }
    return { did: `${rounds} failovers, ${commands} commands`, violations }
  },
}
