import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDice } from '@holdfast/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BusyClients, startClients } from '../cluster/busy-clients.ts'
import { checkLogs, startAudit } from '../cluster/check-logs.ts'
import { runFaults } from '../cluster/cluster-faults.ts'
import { startThreeNodes, type ThreeNodes } from '../cluster/three-nodes.ts'

/** `npm run test:faults -- G4` runs a thousand. */
const cycles = Number(process.env['CLUSTER_CYCLES'] ?? 30)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const termMs = 700
/** How long a fault may take on a busy machine. Most take one or two seconds. */
const faultMsMax = 8000

describe(`three nodes on one database, ${cycles} faults (SEED=${seed})`, () => {
  let home = ''
  let cluster: ThreeNodes
  let clients: BusyClients
  const dice = createDice(seed)

  beforeAll(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'hf-three-')))
    cluster = await startThreeNodes(home, termMs)
    await startAudit(cluster)
    clients = await startClients(cluster, { workdir: home, sessions: 4, dice })
  })
  afterAll(async () => {
    await clients?.stop()
    await cluster?.close()
    await rm(home, { recursive: true, force: true })
  })

  it(
    'lose no acknowledged command, have one owner per epoch, and start no effect twice',
    async () => {
      await clients.progress()
      const counts = await runFaults(cluster, cycles, { dice, termMs, progress: clients.progress })
      await clients.progress()
      await clients.stop()
      expect(clients.unexpected).toEqual([])
      expect(await checkLogs(cluster, clients)).toEqual([])
      expect(clients.acknowledged.length).toBeGreaterThan(cycles)
      console.log(
        `${clients.acknowledged.length} commands; ${[...counts].map(([name, n]) => `${n} × ${name}`).join(', ')}`,
      )
    },
    cycles * faultMsMax,
  )
})
