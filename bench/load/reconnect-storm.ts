import { createSession } from '@holdfast/client'
import type { SessionHandle } from '@holdfast/protocol'
import { number } from '../table.ts'
import { startCrowd } from './parts/crowd.ts'
import { eventsPath, say, startLoadServer } from './parts/load-server.ts'
import { describe, megabytes } from './parts/percentiles.ts'
import { openViewer } from './parts/viewer.ts'
import type { Scenario } from './scenario.ts'

/** All clients lose their connection and come back at once, each with its cursor. Each gets exactly what it missed. */
export const reconnectAtOnce: Scenario = async ({ dir, isQuick }) => {
  const [clients, turns] = isQuick ? [20, 2] : [500, 20]
  await using server = await startLoadServer(dir)
  await using crowd = startCrowd()
  const handle = await server.start()
  await crowd.open(server.target(eventsPath(handle, '?after=0')), clients)
  const seen = await crowd.waitForRecords(await runTurns(handle, 2))
  await crowd.drop()
  const head = await runTurns(handle, turns)
  const missed = head - seen.lastId
  await server.reset()
  const startMs = performance.now()
  const back = await crowd.reopen(head)
  const ms = performance.now() - startMs
  const server1 = await server.look()
  await crowd.drop()
  const isExact = back.missed === 0 && back.leastRecords === missed && back.mostRecords === missed
  const violations = isExact
    ? []
    : [`clients got ${back.leastRecords} to ${back.mostRecords} of ${missed} records, with ${back.missed} gaps`]
  violations.push(...(await checkFutureCursor(server.target(eventsPath(handle)), head)))
  const rows = [
    {
      what: `${number(clients)} clients came back at once, ${number(missed)} records each`,
      figure: `${number(ms)} ms, event loop ${describe({ ...server1.loop, count: 0 })}, resident ${megabytes(server1.rssBytes)}`,
      goal: '≤ 2 s',
      holds: ms <= 2000,
    },
    { what: 'each got what it missed, once', figure: isExact ? 'yes' : 'no', goal: 'yes', holds: isExact },
  ]
  return { figures: { clients, missed, ms, loop: server1.loop, rssBytes: server1.rssBytes }, rows, violations }
}

/** Runs turns and changes that record something; returns the newest record. */
async function runTurns(handle: SessionHandle, turns: number): Promise<number> {
  let head = 0
  for (let turn = 0; turn < turns; turn++) {
    await createSession(handle).rename(`turn ${turn}`)
    const finished = await say(handle, { words: 20, bytes: 100, rate: 0 })
    head = await finished()
  }
  return head
}

/** A cursor that the log does not have gets one resync and a snapshot. */
async function checkFutureCursor(target: Parameters<typeof openViewer>[0], head: number): Promise<readonly string[]> {
  const viewer = openViewer(target, () => undefined, head + 1000)
  await viewer.until(({ events }) => events.has('snapshot'))
  viewer.socket.destroy()
  const [resyncs, snapshots] = [viewer.seen.events.get('resync'), viewer.seen.events.get('snapshot')]
  return resyncs === 1 && snapshots === 1
    ? []
    : [`a cursor after the log got ${resyncs} resyncs, ${snapshots} snapshots`]
}
