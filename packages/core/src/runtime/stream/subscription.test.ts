import { Frame, type FrameOf, limits } from '@holdfast/protocol'
import { aSession, recordsOf, started, userSaid } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createSubscription } from './subscription.ts'

const record = (seq: number): Frame => {
  const [one] = recordsOf([seq === 1 ? started : userSaid(`word ${seq}`)], seq)
  if (!one) throw new Error('one record')
  return { type: 'record', sessionId: aSession, record: one }
}
const delta = (index: number): Frame =>
  Frame.parse({ type: 'delta', sessionId: aSession, step: 3, part: 0, kind: 'text', index, text: 'x' })
const draftFrame = Frame.parse({ type: 'draft', sessionId: aSession, step: 3, index: 99, parts: [] })
const slow: FrameOf<'end'> = { type: 'end', sessionId: aSession, reason: 'slow', retryMs: 0 }
const open = () =>
  createSubscription(
    () => draftFrame,
    () => slow,
  )

const short = (frame: Frame) =>
  frame.type === 'record' ? frame.record.seq : frame.type === 'delta' ? `delta ${frame.index}` : frame.type
const drain = async (subscription: ReturnType<typeof open>) => {
  subscription.end({ ...slow, reason: 'stopped' })
  return (await Array.fromAsync(subscription)).map(short)
}

describe('a subscriber', () => {
  it('gets every frame, in order, at its own pace', async () => {
    const subscription = open()
    for (const frame of [record(1), delta(0), record(2)]) subscription.push(frame, 100)
    expect(await drain(subscription)).toEqual([1, 'delta 0', 2, 'end'])
  })

  it('gets a frame that arrives while it waits', async () => {
    const subscription = open()
    const first = subscription[Symbol.asyncIterator]().next()
    subscription.push(record(1), 100)
    expect((await first).value).toEqual(record(1))
  })

  it('takes frames without a promise, and is told once when there is one again', () => {
    const subscription = open()
    const frames = subscription[Symbol.asyncIterator]()
    let woken = 0
    const take = () => frames.takeNow(() => void woken++)
    expect(take()).toBe('wait')
    for (const frame of [record(1), delta(0)]) subscription.push(frame, 100)
    expect(woken).toBe(1)
    expect([take(), take(), take()]).toEqual([record(1), delta(0), 'wait'])
    subscription.end(slow)
    expect([woken, take(), take()]).toEqual([2, slow, 'next'])
  })

  it('that is slow gets its fragments merged into one draft, and every record', async () => {
    const subscription = open()
    const size = limits.frameBufferBytesMax / 8
    subscription.push(record(1), size)
    for (let index = 0; index < 6; index++) subscription.push(delta(index), size)
    subscription.push(record(2), size)
    subscription.push(delta(6), size)
    const frames = subscription[Symbol.asyncIterator]()
    const read = [await frames.next(), await frames.next(), await frames.next()].map(({ value }) => short(value))
    expect(read).toEqual([1, 2, 'draft'])
  })

  it('that is slow gets only the newest list of clients', async () => {
    const subscription = open()
    const presence: Frame = { type: 'presence', sessionId: aSession, clients: [] }
    for (const frame of [presence, record(1), presence, presence]) subscription.push(frame, 100)
    expect(await drain(subscription)).toEqual([1, 'presence', 'end'])
  })

  it('gets nothing after the end, not even a pending draft', async () => {
    const subscription = open()
    subscription.push(delta(0), limits.frameBufferBytesMax)
    expect(await drain(subscription)).toEqual(['end'])
  })

  it('gets fragments again once it has caught up', async () => {
    const subscription = open()
    const frames = subscription[Symbol.asyncIterator]()
    subscription.push(delta(0), limits.frameBufferBytesMax)
    expect((await frames.next()).value).toEqual(draftFrame)
    subscription.push(delta(100), 10)
    expect((await frames.next()).value).toEqual(delta(100))
  })

  it('that is too slow for the records alone is cut off and gets an end frame', async () => {
    const subscription = open()
    const size = limits.frameBufferBytesMax / 2
    const taken = [1, 2, 3, 4].map((seq) => subscription.push(record(seq), size))
    expect(taken).toEqual([true, true, false, false])
    expect((await Array.fromAsync(subscription)).map(short)).toEqual(['end'])
  })

  it('has lost no record before it is cut off', async () => {
    const subscription = open()
    const frames = subscription[Symbol.asyncIterator]()
    const size = limits.frameBufferBytesMax / 2
    const read: unknown[] = []
    for (let seq = 1; seq <= 6; seq++) {
      subscription.push(record(seq), size)
      if (seq <= 2) read.push(short((await frames.next()).value))
    }
    for await (const frame of subscription) read.push(short(frame))
    expect(read).toEqual([1, 2, 'end'])
  })

  it('ends at once when it leaves', async () => {
    const subscription = open()
    subscription.push(record(1), 100)
    const waiting = Array.fromAsync(subscription)
    subscription.close()
    expect(subscription.push(record(2), 100)).toBe(false)
    expect((await waiting).length).toBeLessThanOrEqual(1)
  })
})
