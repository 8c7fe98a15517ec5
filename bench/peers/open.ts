import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { median } from '../median.ts'
import { sayInTurns } from './conversations.ts'
import type { Peer } from './peer.ts'

export type OpenFigures = {
  /** From nothing, the program itself started too, to a session one can prompt. */
  readonly startMs: number
  /** The same from a running program, which has nothing of the session in memory. */
  readonly readyMs: number
  /** Every message of the session read. */
  readonly readMs: number
}

const messages = 10_000
const meanBytes = 1000
/** Of each program that was started: one that runs for a while is what people talk to. */
const resumesEach = 10

/** One session of 10,000 messages; nothing of it in memory when a clock starts, and the library loaded. */
export async function benchOpen(
  dir: string,
  peers: readonly Peer[],
  rounds: number,
): Promise<ReadonlyMap<Peer, OpenFigures>> {
  const said = sayInTurns(2, messages, meanBytes)
  const place = await mkdtemp(join(dir, 'open-'))
  const names = new Map<Peer, string>()
  for (const peer of peers) {
    process.stderr.write(`open: ${peer.name}\n`)
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
      await open.resume(name)
      const first = performance.now()
      const ready: number[] = []
      for (let time = 0; time < resumesEach; time++) {
        await open.letGo?.(name)
        const resumingAgain = performance.now()
        await open.resume(name)
        ready.push(performance.now() - resumingAgain)
      }
      await open.close()
      const again = await peer.open(place)
      const reading = performance.now()
      const count = await again.readAll(name)
      const done = performance.now()
      await again.close()
      if (count !== messages) throw new Error(`${peer.name} has ${count} messages of ${messages}`)
      if (round < 0) continue // the first round warms the code
      samples.get(peer)?.start.push(first - started)
      samples.get(peer)?.ready.push(...ready)
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
