import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { median } from '../median.ts'
import { makeMessages } from './conversations.ts'
import type { OpenPeer, Peer, PeerMessage } from './peer.ts'

export type AppendFigures = {
  /** Messages acknowledged per second, each sent after the previous one was acknowledged. */
  readonly oneSession: number
  /** The same with many sessions at once, as on a server. */
  readonly manySessions: number
  /** One session, messages sent without waiting; the clock stops when all are stored. */
  readonly savedAtEnd: number
}

const messages = 2_000
/** Limits a sample, because a program that rewrites all messages with each append would take minutes. */
const sampleMs = 1_000
const meanBytes = 1000
const plainWrites = 1_000
const sessionsAtOnce = 64
const messagesEach = 40

/** Returns how often per second the disk can write and sync a message. No peer that syncs can be faster. */
export function syncedWrites(dir: string): number {
  const file = openSync(join(dir, 'plain'), 'w')
  const buffers = makeMessages(1, plainWrites, meanBytes).map(({ text }) => Buffer.from(text))
  const start = performance.now()
  for (const bytes of buffers) {
    writeSync(file, bytes)
    fdatasyncSync(file)
  }
  const seconds = (performance.now() - start) / 1000
  closeSync(file)
  return plainWrites / seconds
}

/** Measures all peers alternately, so that other load affects all of them. Returns medians over `rounds`. */
export async function benchAppend(
  dir: string,
  peers: readonly Peer[],
  rounds: number,
): Promise<{ readonly plainWrites: number; readonly of: ReadonlyMap<Peer, AppendFigures> }> {
  const sent = makeMessages(1, messages, meanBytes)
  const one = new Map<Peer, number[]>(peers.map((peer) => [peer, []]))
  const many = new Map<Peer, number[]>(peers.map((peer) => [peer, []]))
  const saved = new Map<Peer, number[]>(peers.map((peer) => [peer, []]))
  const plain: number[] = []
  for (let round = -1; round < rounds; round++) {
    process.stderr.write(`append: round ${round + 2} of ${rounds + 1}\n`)
    plain.push(syncedWrites(dir))
    for (const peer of peers) {
      const peerDir = await mkdtemp(join(dir, 'append-'))
      const open = await peer.open(peerDir)
      await rateOf(open, sent.slice(0, messagesEach), sessionsAtOnce) // warm-up
      const oneRate = await rateOf(open, sent, 1)
      const manyRate = await rateOf(open, sent.slice(0, messagesEach), sessionsAtOnce)
      const savedRate = await savedRateOf(open, sent)
      await open.close()
      await rm(peerDir, { recursive: true })
      if (round < 0) continue // the first round is a warm-up
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
  return { plainWrites: median(plain), of }
}

async function rateOf(open: OpenPeer, sent: readonly PeerMessage[], sessions: number): Promise<number> {
  const begun = await Promise.all(Array.from({ length: sessions }, () => open.begin()))
  const start = performance.now()
  let stored = 0
  await Promise.all(
    begun.map(async ({ append }) => {
      for (const one of sent) {
        if (performance.now() - start > sampleMs) break
        await append(one)
        stored++
      }
    }),
  )
  return stored / ((performance.now() - start) / 1000)
}

async function savedRateOf(open: OpenPeer, sent: readonly PeerMessage[]): Promise<number> {
  const { add, save } = await open.begin()
  const start = performance.now()
  let added = 0
  for (const one of sent) {
    if (performance.now() - start > sampleMs) break
    await add(one)
    added++
  }
  await save()
  return added / ((performance.now() - start) / 1000)
}
