import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { peerLoaders, peerNames } from './peers/all-peers.ts'
import { type AppendFigures, benchAppend } from './peers/append.ts'
import { countSyncs } from './peers/count-syncs.ts'
import { benchFind } from './peers/find.ts'
import { buildOurs } from './peers/holdfast.ts'
import { installPeers } from './peers/install.ts'
import { benchOpen } from './peers/open.ts'
import type { Peer } from './peers/peer.ts'
import { number, printRows, type Row } from './table.ts'

const rounds = 5
/** Few, because some peers read every file for each search, which takes minutes a round. */
const findRounds = 2
const aheadBy = 10
const withinTimes = 4
/** Goals of two lines, against the fastest peer that writes to disk: as fast, and hardly slower. */
const startAheadBy = 1
const readAheadBy = 1 / 1.2

installPeers()
await buildOurs()
const only = process.argv[2]?.match(/^--only=(append|open|find)$/)?.[1] ?? null
const peers = new Map<Peer, number | null>()
for (const name of peerNames)
  peers.set(await peerLoaders[name](), only === null || only === 'append' ? countSyncs(name) : null)
const [ours, alsoOurs, ...others] = [...peers.keys()]
if (!ours || !alsoOurs) throw new Error('the first two are ours')
const all = [ours, alsoOurs, ...others]

/** Compares a peer's time with ours. There is no goal for another store of Holdfast. */
function timeRow(what: string, peer: Peer, theirMs: number, ourMs: number, times: number | null): Row {
  const ratio = theirMs / ourMs
  const isGoal = times !== null && others.includes(peer)
  return {
    what: `${what}: ${peer.name}`,
    figure: peer === ours ? `${number(ourMs, 2)} ms` : `${number(theirMs, 2)} ms = ${number(ratio, 2)} × ours`,
    goal: isGoal ? `≥ ${number(times, 2)} ×` : '',
    holds: isGoal ? ratio >= times : null,
  }
}
const isOnDisk = (peer: Peer) => peer.durability !== 'in memory'

function appendRow(what: string, peer: Peer, theirs: number, mine: number): Row {
  const syncs = peers.get(peer) ?? null
  const durability = `${peer.durability}${syncs === null ? '' : `, ${syncs} syncs for 100`}`
  const slower = theirs / mine
  const goal = peer.durability === 'synced' ? '≤ 1 ×' : `≤ ${withinTimes} ×`
  const isGoal = others.includes(peer)
  return {
    what: `${what}: ${peer.name}`,
    figure: `${number(theirs)} /s${peer === ours ? '' : ` = ${number(slower, 2)} × ours`} (${durability})`,
    goal: isGoal ? goal : '',
    holds: isGoal ? slower <= (peer.durability === 'synced' ? 1 : withinTimes) : null,
  }
}

const dir = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
try {
  const rows: Row[] = []
  if (only === null || only === 'append') {
    const append = await benchAppend(dir, all, rounds)
    const rate = (peer: Peer, figure: keyof AppendFigures) => append.of.get(peer)?.[figure] ?? Number.NaN
    rows.push({
      what: 'plain write + fdatasync',
      figure: `${number(append.plainWrites)} /s = ${number(append.plainWrites / rate(ours, 'oneSession'), 2)} × ours`,
      goal: '',
      holds: null,
    })
    for (const [figure, what] of [
      ['oneSession', 'append, one session'],
      ['savedAtEnd', 'append, saved at the end'],
      ['manySessions', 'append, 64 sessions'],
    ] as const) {
      for (const peer of all) rows.push(appendRow(what, peer, rate(peer, figure), rate(ours, figure)))
    }
  }
  if (only === null || only === 'open') {
    const open = await benchOpen(dir, all, rounds, ours)
    const mine = open.get(ours)
    if (!mine) throw new Error('ours was not measured')
    for (const [peer, { readyMs }] of open) {
      rows.push(timeRow('open 10,000 messages', peer, readyMs, mine.readyMs, aheadBy))
    }
    for (const [peer, { startMs }] of open) {
      rows.push(
        timeRow('the same, with openHoldfast', peer, startMs, mine.startMs, isOnDisk(peer) ? startAheadBy : null),
      )
    }
    for (const [peer, { readMs }] of open) {
      rows.push(timeRow('read all 10,000', peer, readMs, mine.readMs, isOnDisk(peer) ? readAheadBy : null))
    }
  }
  if (only === null || only === 'find') {
    const find = await benchFind(dir, [ours, ...others], findRounds) // without our JSONL store, which searches by scanning
    const mine = find.get(ours)
    if (!mine) throw new Error('ours was not measured')
    for (const [peer, { listMs }] of find)
      rows.push(timeRow('list 10,000 sessions', peer, listMs, mine.listMs, peer.hasSearch === false ? null : aheadBy))
    for (const [peer, { searchMs }] of find)
      rows.push(timeRow('search them', peer, searchMs, mine.searchMs, peer.hasSearch === false ? null : aheadBy))
  }
  printRows(rows)
  process.stdout.write(
    `load of the machine at the end: ${loadavg()
      .map((load) => number(load, 1))
      .join(', ')}\n`,
  )
} finally {
  await rm(dir, { recursive: true, force: true })
}
