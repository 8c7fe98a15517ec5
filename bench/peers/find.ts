import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createZipfText } from '../fixtures/zipf-text.ts'
import { median } from '../median.ts'
import type { OpenPeer, Peer, PeerMessage } from './peer.ts'

export type FindFigures = {
  /** The first rows of the list of all sessions, newest first, with titles. */
  readonly listMs: number
  /** The first matches of a word: the median over rare and common words. */
  readonly searchMs: number
}

const sessions = 10_000
const messagesEach = 4
const meanBytes = 500
const rows = 50
const writtenAtOnce = 64
/** Ranks of the words, from one in nearly every message to one in a few. */
const ranks = [0, 150, 1_000, 5_000, 20_000]
const indexedWithinMs = 120_000
const lastWord = 'harbourmaster'

/** Measures list and search over 10,000 sessions of four messages, the same in every program. */
export async function benchFind(
  dir: string,
  peers: readonly Peer[],
  rounds: number,
): Promise<ReadonlyMap<Peer, FindFigures>> {
  const findDir = await mkdtemp(join(dir, 'find-'))
  const words = ranks.map((rank) => createZipfText(3).word(rank))
  const figures = new Map<Peer, FindFigures>()
  for (const peer of peers) {
    process.stderr.write(`find: ${peer.name}\n`)
    const open = await peer.open(findDir)
    await fill(open)
    const list: number[] = []
    const search: number[] = []
    for (let round = -1; round < rounds; round++) {
      const listing = performance.now()
      const titles = await open.list(rows)
      const listMs = performance.now() - listing
      if (titles.length !== rows || titles.some((title) => title === ''))
        throw new Error(`${peer.name} lists too little`)
      const searchMs: number[] = []
      for (const word of words) {
        const searching = performance.now()
        const found = await open.search(word, rows)
        searchMs.push(performance.now() - searching)
        if (found === 0) throw new Error(`${peer.name} does not find ${word}`)
      }
      if (round < 0) continue // the first round is a warm-up
      list.push(listMs)
      search.push(...searchMs)
    }
    await open.close()
    figures.set(peer, { listMs: median(list), searchMs: median(search) })
  }
  return figures
}

async function fill(open: OpenPeer): Promise<void> {
  const text = createZipfText(3)
  const next = (): readonly PeerMessage[] =>
    Array.from({ length: messagesEach }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      text: text.textAbout(meanBytes),
    }))
  for (let written = 0; written < sessions; written += writtenAtOnce) {
    const count = Math.min(writtenAtOnce, sessions - written)
    await Promise.all(Array.from({ length: count }, () => open.write(next())))
  }
  await open.write([
    { role: 'user', text: `Where is the ${lastWord}?` },
    { role: 'assistant', text: 'At the quay.' },
  ])
  const deadline = performance.now() + indexedWithinMs
  while ((await open.search(lastWord, rows)) === 0) {
    if (performance.now() > deadline) throw new Error('search does not find the last message')
    await delay(50) // an index may be updated later
  }
}
