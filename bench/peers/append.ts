import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { median } from '../median.ts'
import { sayInTurns } from './conversations.ts'
import type { OpenPeer, Peer, Said } from './peer.ts'

export type AppendFigures = {
  /** Messages acknowledged per second, each handed over when the one before it was. */
  readonly oneSession: number
  /** The same with many sessions at once, as a server has them. */
  readonly manySessions: number
  /** One session, each message handed over without waiting; the clock stops when all are kept. */
  readonly savedAtEnd: number
}

const messages = 2_000
/** A program that writes all messages again with each one would take minutes; what it did in this time is its rate. */
const sampleMs = 1_000
const meanBytes = 1000
const bareWrites = 1_000
const sessionsAtOnce = 64
const messagesEach = 40

/** What the disk gives: the bytes of a message written and synced, and nothing else done. No peer that syncs is faster. */
export function bareSyncs(dir: string): number {
  const file = openSync(join(dir, 'bare'), 'w')
  const said = sayInTurns(1, bareWrites, meanBytes).map(({ text }) => Buffer.from(text))
  const start = performance.now()
  for (const bytes of said) {
    writeSync(file, bytes)
    fdatasyncSync(file)
  }
  const seconds = (performance.now() - start) / 1000
  closeSync(file)
  return bareWrites / seconds
}

/** All peers in turns, so that a noisy neighbour is noisy for all; medians over `rounds`. */
export async function benchAppend(
  dir: string,
  peers: readonly Peer[],
  rounds: number,
): Promise<{ readonly bare: number; readonly of: ReadonlyMap<Peer, AppendFigures> }> {
  const said = sayInTurns(1, messages, meanBytes)
  const one = new Map<Peer, number[]>(peers.map((peer) => [peer, []]))
  const many = new Map<Peer, number[]>(peers.map((peer) => [peer, []]))
  const saved = new Map<Peer, number[]>(peers.map((peer) => [peer, []]))
  const bare: number[] = []
  for (let round = -1; round < rounds; round++) {
    process.stderr.write(`append: round ${round + 2} of ${rounds + 1}\n`)
    bare.push(bareSyncs(dir))
    for (const peer of peers) {
      const place = await mkdtemp(join(dir, 'append-'))
      const open = await peer.open(place)
      await rateOf(open, said.slice(0, messagesEach), sessionsAtOnce) // statements prepared, threads up, code compiled
      const oneRate = await rateOf(open, said, 1)
      const manyRate = await rateOf(open, said.slice(0, messagesEach), sessionsAtOnce)
      const savedRate = await savedRateOf(open, said)
      await open.close()
      await rm(place, { recursive: true })
      if (round < 0) continue // the first round warms the code
      one.get(peer)?.push(oneRate)
      many.get(peer)?.push(manyRate)
      saved.get(peer)?.push(savedRate)
    }
  }
  const of = new Map(
    peers.map((peer) => [
      peer,
      {
        oneSession: median(one.get(peer) ?? []),
        manySessions: median(many.get(peer) ?? []),
        savedAtEnd: median(saved.get(peer) ?? []),
      },
    ]),
  )
  return { bare: median(bare), of }
}

async function rateOf(open: OpenPeer, said: readonly Said[], sessions: number): Promise<number> {
  const begun = await Promise.all(Array.from({ length: sessions }, () => open.begin()))
  const start = performance.now()
  let kept = 0
  await Promise.all(
    begun.map(async ({ append }) => {
      for (const one of said) {
        if (performance.now() - start > sampleMs) break
        await append(one)
        kept++
      }
    }),
  )
  return kept / ((performance.now() - start) / 1000)
}

async function savedRateOf(open: OpenPeer, said: readonly Said[]): Promise<number> {
  const { add, save } = await open.begin()
  const start = performance.now()
  let added = 0
  for (const one of said) {
    if (performance.now() - start > sampleMs) break
    await add(one)
    added++
  }
  await save()
  return added / ((performance.now() - start) / 1000)
}
