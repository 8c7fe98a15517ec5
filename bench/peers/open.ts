import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { median } from '../median.ts'
import { makeMessages } from './conversations.ts'
import type { OpenPeer, Peer } from './peer.ts'

export type OpenFigures = {
  /** From opening the store to a session ready for a prompt, in a program that has loaded the library. */
  readonly startMs: number
  /** The same in a running program that has not loaded the session. */
  readonly readyMs: number
  /** Reads every message of the session. */
  readonly readMs: number
}

const messages = 10_000
const meanBytes = 1000
/** The other sessions of the store. Peers that store a file for each session do not look at them. */
const otherSessions = 9_999
const writtenAtOnce = 64
/** Samples per started program, because users mostly talk to a program that has run for a while. */
const resumesEach = 10

/** Measures opening a session of 10,000 messages that is not in memory. `crowded` has 10,000 sessions in its store. */
export async function benchOpen(
  dir: string,
  peers: readonly Peer[],
  rounds: number,
  crowded: Peer,
): Promise<ReadonlyMap<Peer, OpenFigures>> {
  const sent = makeMessages(2, messages, meanBytes)
  const openDir = await mkdtemp(join(dir, 'open-'))
  const names = new Map<Peer, string>()
  for (const peer of peers) {
    process.stderr.write(`open: ${peer.name}\n`)
    const open = await peer.open(openDir)
    names.set(peer, await open.write(sent))
    if (peer === crowded) await writeOthers(open)
    await untilIdle()
    await open.close()
  }
  const samples = new Map(peers.map((peer) => [peer, { start: [0], ready: [0], read: [0] }]))
  for (const figures of samples.values()) for (const values of Object.values(figures)) values.pop()
  for (let round = -1; round < rounds; round++) {
    for (const peer of peers) {
      const name = names.get(peer) ?? ''
      const started = performance.now()
      const open = await peer.open(openDir)
      await open.resume(name)
      const first = performance.now()
      const ready: number[] = []
      for (let time = 0; time < resumesEach; time++) {
        await open.unload?.(name)
        const resumingAgain = performance.now()
        await open.resume(name)
        ready.push(performance.now() - resumingAgain)
      }
      await open.close()
      const again = await peer.open(openDir)
      const reading = performance.now()
      const count = await again.readAll(name)
      const done = performance.now()
      await again.close()
      if (count !== messages) throw new Error(`${peer.name} has ${count} messages of ${messages}`)
      if (round < 0) continue // the first round is a warm-up
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

const idle = { sampleMs: 250, cpuMsMax: 10 }

/** Waits until this process does nothing more: a store that has just been written still builds its word index. */
async function untilIdle(): Promise<void> {
  for (;;) {
    const before = process.cpuUsage()
    await delay(idle.sampleMs)
    const { user, system } = process.cpuUsage(before)
    if ((user + system) / 1000 < idle.cpuMsMax) return
  }
}

async function writeOthers(open: OpenPeer): Promise<void> {
  const [greeting] = makeMessages(3, 1, meanBytes)
  for (let written = 0; greeting && written < otherSessions; written += writtenAtOnce) {
    const count = Math.min(writtenAtOnce, otherSessions - written)
    await Promise.all(Array.from({ length: count }, () => open.write([greeting])))
  }
}
