import { type Frame, fault, limits, ok, type Result, refuse, type Seq, type SessionId } from '@holdfast/protocol'
import { aRecord, aSession } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Following } from './follow-session.ts'
import { createStreams, type SentFrame } from './streams.ts'

const session = (number: number) => `${aSession.slice(0, -3)}${String(number).padStart(3, '0')}` as SessionId
const record = (sessionId: SessionId, seq: number): Frame => ({
  type: 'record',
  sessionId,
  record: aRecord(seq, { type: 'user.said', turn: 0, content: [{ type: 'text', text: 'hi' }] }),
})

/** Opens a stream on a connection, and counts what is read and what waits for its client. */
function openConnection(refused: Result<never> | null = null) {
  const counts = { began: 0, places: 0, waiting: 0 }
  const streams = createStreams({
    onProblem: ({ cause }) => {
      throw cause
    },
    outbox: {
      async enter() {
        if (refused) return refused
        counts.places += 1
        return ok(() => {
          counts.places -= 1
        })
      },
    },
  })
  const gone = new AbortController()
  const hold = () => {
    counts.waiting += 1
    return () => {
      counts.waiting -= 1
    }
  }
  const { id, frames } = streams.open('someone', null, hold)
  /** A session whose past has three records. `live` follow when the connection has read its past. */
  const follow = (number: number, live: readonly Frame[] = []): Following => ({
    id: session(number),
    after: 0 as Seq,
    began: () => undefined,
    abandon: () => undefined,
    left: null,
    end: (reason, retryMs) => ({ type: 'end', sessionId: session(number), reason, retryMs }),
    async *frames(over, from) {
      counts.began += 1
      for (let seq = (from?.cursor ?? 0) + 1; seq <= 3; seq++) yield record(session(number), seq)
      yield { type: 'storage', sessionId: session(number), error: null }
      yield* live
      if (!over.aborted) await new Promise((resolve) => over.addEventListener('abort', resolve))
    },
  })
  return { streams, id, counts, follow, frames: frames(gone.signal), leave: () => gone.abort() }
}

const slices = async (count = 20) => {
  for (let slice = 0; slice < count; slice++) await new Promise(setImmediate)
}

async function take(frames: AsyncIterator<SentFrame>, count: number): Promise<readonly SentFrame[]> {
  const taken: SentFrame[] = []
  while (taken.length < count) taken.push((await frames.next()).value)
  return taken
}

const nameOf = (frame: SentFrame) => ('sessionId' in frame ? `${frame.type} ${frame.sessionId.slice(-1)}` : frame.type)

describe('the sessions of one connection', () => {
  it('read their past one at a time, so that a client that does not read costs one page', async () => {
    const { streams, id, counts, follow, frames, leave } = openConnection()
    await frames.next()
    for (let number = 1; number <= 50; number++) expect(streams.add(id, follow(number))).toBeNull()
    await slices()
    expect(counts).toEqual({ began: 1, places: 0, waiting: 1 })
    const taken = await take(frames, 50 * 4)
    expect(new Set(taken.map(nameOf)).size).toBe(20)
    await slices()
    expect(counts).toMatchObject({ began: 50, waiting: 1 }) // the last one was not done with yet
    leave()
    await frames.return(undefined)
    await slices()
    expect(counts).toMatchObject({ places: 0, waiting: 0 })
  })

  it('read their past one at a time also on streams that joined the connection', async () => {
    const { streams, id, counts, follow, frames, leave } = openConnection()
    await frames.next()
    for (let number = 1; number <= 50; number++) {
      const joined = streams.join(id, `w${number}`, () => null)
      expect(joined.ok && streams.add(joined.value, follow(1))).toBeNull()
    }
    await slices()
    expect(counts.began).toBe(1)
    await take(frames, 50 * 5) // each joined stream says its id first
    expect(counts.began).toBe(50)
    leave()
    await frames.return(undefined)
  })

  it('get their live frames while another one reads its past', async () => {
    const { streams, id, follow, frames, leave } = openConnection()
    await frames.next()
    streams.add(id, follow(1, [record(session(1), 4), record(session(1), 5)]))
    await take(frames, 4)
    streams.add(id, follow(2))
    expect((await take(frames, 6)).map(nameOf)).toContain('record 1')
    leave()
    await frames.return(undefined)
  })

  it('that read too slowly wait for their time to read again, and go on at their cursor', async () => {
    const { streams, id, counts, follow, frames, leave } = openConnection()
    await frames.next()
    const slow: Frame = { type: 'end', sessionId: session(1), reason: 'slow', retryMs: 0 }
    const cut = follow(1)
    let times = 0
    streams.add(id, {
      ...cut,
      async *frames(over, from) {
        times += 1
        if (times > 1) return yield* cut.frames(over, from)
        counts.began += 1
        yield record(session(1), 1)
        yield { type: 'storage', sessionId: session(1), error: null }
        yield slow
      },
    })
    const taken = await take(frames, 5)
    expect(taken.map((frame) => (frame.type === 'record' ? frame.record.seq : frame.type))).toEqual([
      1,
      'storage',
      2,
      3,
      'storage',
    ])
    expect(times).toBe(2)
    leave()
    await frames.return(undefined)
  })

  it('that are dropped while they wait end at once, and do not keep others waiting', async () => {
    const { streams, id, follow, frames, leave } = openConnection()
    await frames.next()
    for (const number of [1, 2, 3]) streams.add(id, follow(number))
    await slices()
    expect(streams.drop(id, session(2))).toBeNull()
    await slices()
    expect(streams.add(id, follow(2))).toBeNull() // it can be followed again at once
    const names = (await take(frames, 4 * 3 + 1)).map(nameOf)
    expect(names.filter((name) => name.endsWith('2'))).toEqual([
      'end 2',
      'record 2',
      'record 2',
      'record 2',
      'storage 2',
    ])
    leave()
    await frames.return(undefined)
  })

  it('are limited, with those of joined streams', async () => {
    const { streams, id, follow, frames, leave } = openConnection()
    await frames.next()
    const joined = streams.join(id, 'w1', () => null)
    const other = joined.ok ? joined.value : ''
    for (let number = 1; number <= limits.streamSessionsMax / 2; number++) {
      expect(streams.add(id, follow(number))).toBeNull()
      expect(streams.add(other, follow(number))).toBeNull()
    }
    expect(streams.findFull(id)).toMatchObject({ code: 'too_large', details: { limit: 'streamSessionsMax' } })
    expect(streams.add(other, follow(300))).toMatchObject({ code: 'too_large' })
    leave()
    await frames.return(undefined)
    await slices()
    expect(streams.findForeign(id, 'someone')).toMatchObject({ code: 'not_found' })
  })

  it('that cannot be read because the server holds too much end, to be followed again', async () => {
    const busy = refuse(fault('server_busy', 'The server holds too much.'))
    const { streams, id, follow, frames, counts, leave } = openConnection(busy)
    await frames.next()
    streams.add(id, follow(1))
    expect(await take(frames, 1)).toEqual([
      { type: 'end', sessionId: session(1), reason: 'failed', retryMs: expect.any(Number) },
    ])
    expect(counts.began).toBe(0)
    leave()
    await frames.return(undefined)
  })
})
