import { decodeFrames } from '@holdfast/client'
import type { Dice } from '@holdfast/testkit'
import type { ThreeNodes } from './three-nodes.ts'

/** A client that follows a session over HTTP, and goes on at its cursor at another node when its own one fails. */
export type Follower = {
  readonly session: string
  /** The seqs of the records that it got, in order. */
  readonly seqs: readonly number[]
  /** Resolves when it has got the record of this seq. */
  reaches(seq: number): Promise<void>
  stop(): Promise<void>
}

const pauseMs = 100

export function startFollower(cluster: ThreeNodes, session: string, dice: Dice): Follower {
  const seqs: number[] = []
  const closing = new AbortController()
  const waiting = new Set<{ readonly seq: number; readonly done: () => void }>()
  const cursor = () => seqs.at(-1) ?? 0

  /** Follows at one node until the connection ends. */
  async function follow(url: string): Promise<void> {
    const { body, ok } = await fetch(`${url}/v1/sessions/${session}/events?after=${cursor()}`, {
      headers: { authorization: `Bearer ${cluster.token}` },
      signal: closing.signal,
    })
    if (!ok || body === null) return
    for await (const frame of decodeFrames(body)) {
      if (frame.type === 'end') return
      if (frame.type !== 'record') continue
      seqs.push(frame.record.seq)
      for (const one of waiting) if (one.seq <= frame.record.seq) one.done()
    }
  }

  const following = (async () => {
    while (!closing.signal.aborted) {
      const url = dice.pick(cluster.nodes)?.server?.url
      if (url !== undefined) await follow(url).catch(() => undefined) // the node failed: the next one goes on
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  })()
  return {
    session,
    seqs,
    reaches: (seq) =>
      new Promise((done) => {
        if (cursor() >= seq) done()
        else waiting.add({ seq, done })
      }),
    async stop() {
      closing.abort()
      await following
    },
  }
}
