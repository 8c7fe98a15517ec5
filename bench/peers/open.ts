import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { median } from '../median.ts'
import { sayInTurns } from './conversations.ts'
import type { Peer } from './peer.ts'

export type OpenFigures = {
  /** The program itself taken up, nothing of the session yet. */
  readonly startMs: number
  /** From a running program to a session one can prompt. */
  readonly readyMs: number
  /** Every message of the session read. */
  readonly readMs: number
}

const messages = 10_000
const meanBytes = 1000

/** One session of 10,000 messages; nothing of it in memory when the clock starts, and the library loaded. */
export async function benchOpen(
  dir: string,
  peers: readonly Peer[],
  rounds: number,
): Promise<ReadonlyMap<Peer, OpenFigures>> {
  const said = sayInTurns(2, messages, meanBytes)
  const place = await mkdtemp(join(dir, 'open-'))
  const names = new Map<Peer, string>()
  for (const peer of peers) {
    const open = await peer.open(place)
    names.set(peer, await open.write(said))
    await open.close()
  }
  const samples = new Map(peers.map((peer) => [peer, { start: [0], ready: [0], read: [0] }]))
  for (const figures of samples.values()) for (const values of Object.values(figures)) values.pop()
  for (let round = -1; round < rounds; round++) {
    for (const peer of peers) {
      const name = names.get(peer) ?? ''
      const started = performance.now()
      const open = await peer.open(place)
      const resuming = performance.now()
      await open.resume(name)
      const ready = performance.now()
      await open.close()
      const again = await peer.open(place)
      const reading = performance.now()
      const count = await again.readAll(name)
      const done = performance.now()
      await again.close()
      if (count !== messages) throw new Error(`${peer.name} has ${count} messages of ${messages}`)
      if (round < 0) continue // the first round warms the code
      samples.get(peer)?.start.push(resuming - started)
      samples.get(peer)?.ready.push(ready - resuming)
      samples.get(peer)?.read.push(done - reading)
    }
  }
  return new Map(
    [...samples].map(([peer, { start, ready, read }]) => [
      peer,
      { startMs: median(start), readyMs: median(ready), readMs: median(read) },
    ]),
  )
}
