import type { Frame } from '@holdfast/protocol'
import { createGate, mumble, say, waitAt } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { isRecord, openHouse } from '../../../../test/simulation/a-house.ts'
import { aSession } from '../../../../test/simulation/a-log.ts'

const prompt = { type: 'sendPrompt', content: 'go' } as const
const take = async (frames: AsyncIterable<Frame>, isLast: (frame: Frame) => boolean) => {
  const taken: Frame[] = []
  for await (const frame of frames) {
    taken.push(frame)
    if (isLast(frame)) break
  }
  return taken
}
const idle = isRecord('turn.ended')
const types = (frames: readonly Frame[]) => frames.map(({ type }) => type)

describe('a subscription', () => {
  it('begins with a snapshot', async () => {
    const house = await openHouse()
    const [first] = await take(house.handle.subscribe(), () => true)
    expect(first).toMatchObject({ type: 'snapshot', seq: 1, messages: [], before: null })
  })

  it('with a cursor gets exactly what it missed, then what happens', async () => {
    const house = await openHouse({ script: [[say('Hi.')]] })
    await house.send('a', prompt)
    await house.frame(idle)
    const missed = await take(house.handle.subscribe({ after: 3 }), idle)
    const seqs = missed.map((frame) => (frame.type === 'record' ? frame.record.seq : frame.type))
    expect(seqs).toEqual([4, 5, 6, 7, 8])
  })

  it('with a cursor from the future is told to start over', async () => {
    const house = await openHouse()
    expect(types(await take(house.handle.subscribe({ after: 99 }), ({ type }) => type === 'snapshot'))).toEqual([
      'resync',
      'snapshot',
    ])
  })

  it('that comes late gets the running message so far', async () => {
    const gate = createGate()
    const house = await openHouse({ script: [[mumble('Hello th'), waitAt(gate)]] })
    await house.send('a', prompt)
    await gate.reached
    const frames = await take(house.handle.subscribe(), ({ type }) => type === 'draft')
    expect(frames.at(-1)).toMatchObject({ type: 'draft', parts: [{ kind: 'text', text: 'Hello th' }] })
  })

  it('ends when its signal says so, be it before it began', async () => {
    const house = await openHouse()
    const [before, after] = [new AbortController(), new AbortController()]
    before.abort()
    expect(types(await Array.fromAsync(house.handle.subscribe({ signal: before.signal })))).toEqual(['snapshot'])
    const following = Array.fromAsync(house.handle.subscribe({ signal: after.signal }))
    await new Promise<void>((resolve) => void setImmediate(resolve))
    after.abort()
    expect(types(await following)).toEqual(['snapshot'])
    expect(house.roster.awake(aSession)?.hub.size).toBe(0)
  })

  it('is ended with a reason when the session is put to rest', async () => {
    const house = await openHouse()
    const following = take(house.handle.subscribe(), ({ type }) => type === 'end')
    await new Promise<void>((resolve) => void setImmediate(resolve))
    await house.send('a', prompt)
    await house.frame(idle)
    await house.roster.rest(aSession)
    expect((await following).at(-1)).toMatchObject({ type: 'end', reason: 'stopped' })
  })
})

describe('the handle', () => {
  it('refuses what is no command, and says what is wrong with it', async () => {
    const house = await openHouse()
    // A program without types may send anything.
    const answer = await house.handle.submit({ type: 'sendPrompt' } as never)
    expect(answer).toMatchObject({
      ok: false,
      fault: { code: 'bad_request', message: expect.stringContaining('content') },
    })
  })

  it('reads without waking, and shows the same as when it is awake', async () => {
    const house = await openHouse({ script: [[say('Hi.')]] })
    await house.send('a', prompt)
    await house.frame(idle)
    const awake = await house.handle.snapshot()
    await house.roster.rest(aSession)
    expect(await house.handle.snapshot()).toEqual(awake)
    expect(house.roster.awake(aSession)).toBeNull()
  })
})

describe('a session that nobody attends', () => {
  it('leaves memory after a quarter of an hour, and nobody can tell when it is back', async () => {
    const house = await openHouse({ script: [[say('Hi.')], [say('Again.')]] })
    await house.send('a', prompt)
    await house.frame(idle)
    const before = await house.handle.snapshot()
    await new Promise<void>((resolve) => void setImmediate(resolve))
    house.clock.advance(15 * 60_000)
    expect(house.roster.awake(aSession)).toBeNull()
    expect(await house.handle.snapshot()).toEqual(before)
    await house.send('b', prompt)
    await house.frame((frame) => idle(frame) && frame.type === 'record' && frame.record.seq > 8)
  })
})
