import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDice } from '@holdfast/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BusyClients, startClients, within } from '../cluster/busy-clients.ts'
import { checkLogs, startAudit } from '../cluster/check-logs.ts'
import { runFaults } from '../cluster/cluster-faults.ts'
import { type Follower, startFollower } from '../cluster/follower.ts'
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
  let followers: readonly Follower[] = []
  const dice = createDice(seed)

  beforeAll(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'hf-three-')))
    cluster = await startThreeNodes(home, termMs)
    await startAudit(cluster)
    clients = await startClients(cluster, { workdir: home, sessions: 4, dice })
    followers = clients.sessions.map((session) => startFollower(cluster, session, dice))
  })
  afterAll(async () => {
    await clients?.stop()
    await Promise.all(followers.map((one) => one.stop()))
    await cluster?.close()
    await rm(home, { recursive: true, force: true })
  })

  it(
    'lose no acknowledged command and no frame, have one owner per epoch, and start no effect twice',
    async () => {
      await clients.progress()
      const counts = await runFaults(cluster, cycles, { dice, termMs, progress: clients.progress })
      await clients.progress()
      await clients.stop()
      for (const { session, seqs, reaches } of followers) {
        const acknowledged = clients.acknowledged.filter((one) => one.session === session)
        const seq = Math.max(...acknowledged.map((one) => one.seq))
        const late = () => new Error(`a follower of ${session} got ${seqs.at(-1)} and not ${seq}`)
        await within(60_000, reaches(seq), late)
        expect(seqs).toEqual(seqs.map((_, index) => index + 1)) // each record once, in order, whatever failed
      }
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
