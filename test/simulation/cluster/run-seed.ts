import { isDeepStrictEqual } from 'node:util'
import { invariant, type LostRecord, orThrow, type Recorded, type SessionId } from '@holdfast/protocol'
import { createDice } from '@holdfast/testkit'
import { loadSession } from '../../../packages/core/src/runtime/log/load-session.ts'
import { childOf } from '../../../packages/core/src/session/open-child.ts'
import { type Client, startClient } from './client.ts'
import { runFaults } from './faults.ts'
import { type Follower, startFollower } from './follower.ts'
import type { Defect } from './simulated-database.ts'
import { createWorld, type World } from './world.ts'

const [sessionsMax, faultsMax] = [3, 12]
const healMsMax = 60_000

/** What a run did, so that a test can see that it did something. */
export type ClusterRun = {
  readonly acknowledged: number
  readonly calls: number
  readonly faults: ReadonlyMap<string, number>
}

/** Runs three nodes with random faults, and checks what they recorded. Throws the first violation. */
export async function runClusterSeed(seed: number, defect: Defect | null = null): Promise<ClusterRun> {
  const world = createWorld(createDice(seed), defect)
  const { audit } = world.database
  const sessions = await startSessions(world)
  const clients = sessions.map((session) => startClient(world, session))
  const followers = sessions.map((session) => startFollower(world, session))
  const faults = await runFaults(world, faultsMax)
  const counts = clients.map(({ acknowledged }) => acknowledged.length)
  const hasGoneOn = () => clients.every(({ acknowledged }, index) => acknowledged.length > (counts[index] ?? 0) + 1)
  const isWell = await world.run(healMsMax, hasGoneOn)
  for (const client of clients) client.stop()
  await world.run(healMsMax)
  invariant(audit.violations.length === 0, audit.violations.join('\n'))
  invariant(
    isWell,
    `after the faults no work goes on: ${counts} commands, then ${clients.map((one) => one.acknowledged.length)}`,
  )
  for (const client of clients) await checkClient(world, client)
  for (const follower of followers) await checkFollower(world, follower)
  return {
    acknowledged: clients.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0),
    calls: audit.begun.size,
    faults,
  }
}

/** Starts sessions at the first node. Each second one asks a person before it runs a call. */
async function startSessions(world: World): Promise<readonly SessionId[]> {
  const sessions: SessionId[] = []
  await world.run(100)
  while (sessions.length < sessionsMax) {
    const approvals = sessions.length % 2 === 0 ? 'none' : 'all'
    const starting = world.nodes()[0]?.registry.start({ workdir: '/work', title: 'A session', approvals })
    let isOver = false
    starting
      ?.then((started) => {
        if (started.ok) sessions.push(started.value.id) // else its answer was late: start another one
      })
      .catch(() => undefined) // the same
      .finally(() => {
        isOver = true
      })
    await world.run(10_000, () => isOver)
  }
  return sessions
}

/** Every acknowledged command is recorded once, at its seq. The log is dense, and the session at rest or waiting. */
async function checkClient({ database }: World, { session, acknowledged }: Client): Promise<void> {
  const { audit, tables } = database
  for (const { commandId, seq } of acknowledged) {
    const found = audit.commands.get(`${session} ${commandId}`) ?? []
    invariant(found.length === 1 && found[0] === seq, `${commandId} was acknowledged at ${seq}, recorded at [${found}]`)
  }
  const records = await tables.read(session, { after: 0, limit: 1_000_000 })
  const row = await tables.entry(session)
  invariant(records.length === row?.head, `${session} has ${records.length} records, and its head is ${row?.head}`)
  for (const [index, { seq }] of records.entries()) invariant(seq === index + 1, `seq ${seq} is at ${index + 1}`)
  for (const record of records) invariant(!isLostChild(record), `${session}: ${JSON.stringify(record)}`)
  await checkRest(tables, session)
}

/** A call must not fail because its subagent was at another node. */
const isLostChild = (record: Recorded | LostRecord): boolean =>
  !('lost' in record) &&
  record.event.type === 'call.settled' &&
  JSON.stringify(record.event).includes('cannot be opened')

/** The session is at rest, or waits for a person, itself or with the subagents that its calls wait for. */
async function checkRest(tables: World['database']['tables'], session: SessionId): Promise<void> {
  const { state } = orThrow(await loadSession(tables, session))
  const { turn } = state
  const isWaiting =
    turn.phase === 'acting' && turn.calls.every(({ id, status }) => status === 'asked' || childOf(state, id))
  invariant(turn.phase === 'idle' || isWaiting, `${session} is left in ${JSON.stringify(turn)}`)
  for (const child of state.children) await checkRest(tables, child.session)
}

/** A follower has got every record once, in order, whatever node it was at. */
async function checkFollower({ database }: World, { session, records }: Follower): Promise<void> {
  const stored = await database.tables.read(session, { after: 0, limit: 1_000_000 })
  invariant(
    isDeepStrictEqual(records, stored),
    `a follower of ${session} has ${records.length} of ${stored.length} records`,
  )
}
