import { CallId, ClientId, type Frame, StepId } from '@holdfast/protocol'
import { aSession, aView, type EventInput, recordsOf, settled, stepEnded, turnEnded, userSaid } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createHub } from './hub.ts'

const encoded = (seq: number, given: EventInput) =>
  recordsOf([given], seq).map((record) => ({ record, body: JSON.stringify(record.event) }))
const step = StepId.parse(4)
const text = { step, part: 0, kind: 'text' as const }
const output = { step, part: 5, kind: 'output' as const, call: CallId.parse(5), tool: 'shell' }
const recorded = (seq: number) => ({ seq, view: aView(), messages: [], before: null, summary: null })
const unready = () => ({ type: 'no_credentials', message: 'no key' }) as const
const open = () => createHub(aSession, () => undefined, unready)
const draftOf = (hub: ReturnType<typeof open>) => {
  const { draft, leave } = hub.join()
  leave()
  return draft?.parts.map(({ text }) => text) ?? null
}

describe('the hub', () => {
  it('gives every subscriber the same frame, so that it is encoded once', async () => {
    const hub = open()
    const [one, two] = [hub.join(), hub.join()]
    hub.publish(encoded(6, stepEnded))
    hub.publishStorage({ reason: 'io', message: 'The disk failed.' })
    const [left, right] = [one, two].map(({ subscription }) => subscription[Symbol.asyncIterator]())
    for (const type of ['record', 'storage']) {
      const frame = (await left?.next())?.value
      expect(frame).toMatchObject({ type })
      expect((await right?.next())?.value).toBe(frame)
    }
  })

  it('reads the view at the newest seq once for all who ask', async () => {
    const hub = open()
    let reads = 0
    const at = (seq: number) => hub.share(seq, async () => ({ ...recorded(seq), summary: `read ${++reads}` }))
    const [one, two] = await Promise.all([at(3), at(3)])
    expect([one, reads]).toEqual([two, 1])
    expect(await at(3)).toBe(one)
    expect((await at(4)).summary).toBe('read 2')
    expect((await at(3)).summary).toBe('read 3')
    expect((await at(4)).summary).toBe('read 2')
  })

  it('reads the view again after a failure', async () => {
    const hub = open()
    await expect(hub.share(3, () => Promise.reject(new Error('disk')))).rejects.toThrow('disk')
    expect(await hub.share(3, async () => recorded(3))).toEqual(recorded(3))
  })

  it('shows a long fragment in several frames, and splits no character', async () => {
    const hub = open()
    const { subscription } = hub.join()
    const long = `x${'🐢'.repeat(200_000)}`
    hub.show(text, long)
    hub.show(text, 'end')
    const frames: Frame[] = []
    for await (const frame of subscription) {
      frames.push(frame)
      if (frame.type === 'delta' && frame.text === 'end') break
    }
    const texts = frames.flatMap((frame) => (frame.type === 'delta' ? [frame.text] : []))
    expect(texts.join('')).toBe(`${long}end`)
    expect(texts.length).toBeGreaterThanOrEqual(5)
    expect(texts.every((piece) => piece.length <= 128 * 1024 && piece.isWellFormed())).toBe(true)
    expect(frames.flatMap((frame) => (frame.type === 'delta' ? [frame.index] : []))).toEqual(texts.map((_, n) => n))
    expect(draftOf(hub)).toEqual([`${long}end`])
  })

  it('gives a new subscriber the running message so far, then the rest', async () => {
    const hub = open()
    hub.show(text, 'Hel')
    const { draft, subscription } = hub.join()
    hub.show(text, 'lo')
    expect(draft).toMatchObject({ index: 0, parts: [{ text: 'Hel' }] })
    const next: Frame = (await subscription[Symbol.asyncIterator]().next()).value
    expect(next).toMatchObject({ type: 'delta', index: 1, text: 'lo' })
  })

  it('sends live text before what was published after it', async () => {
    const hub = open()
    const { subscription } = hub.join()
    for (const word of ['a', 'b', 'c']) hub.show(text, word)
    hub.publish(encoded(6, userSaid('hi')))
    hub.show(text, 'd')
    hub.publishStorage(null)
    hub.show(text, 'e')
    hub.end('stopped', null)
    const got = await Array.fromAsync(subscription, (frame) => (frame.type === 'delta' ? frame.text : frame.type))
    expect(got).toEqual(['a', 'bc', 'record', 'd', 'storage', 'e', 'end'])
  })

  it('gives a new subscriber each fragment of a burst once, in the draft or after it', async () => {
    const hub = open()
    for (const word of ['a', 'b', 'c']) hub.show(text, word)
    const { draft, subscription } = hub.join()
    for (const word of ['d', 'e']) hub.show(text, word)
    hub.end('stopped', null)
    expect(draft).toMatchObject({ index: 1, parts: [{ text: 'abc' }] })
    expect(await Array.fromAsync(subscription)).toMatchObject([{ index: 2, text: 'de' }, { type: 'end' }])
  })

  it('gives a slow subscriber a draft with all text so far, and none of it again', async () => {
    const hub = open()
    const { subscription } = hub.join()
    const frames = subscription[Symbol.asyncIterator]()
    for (let fragment = 0; fragment < 10; fragment++) hub.show(text, 'x'.repeat(100_000))
    hub.show(text, 'end')
    const draft: Frame = (await frames.next()).value
    expect(draft).toMatchObject({ type: 'draft', parts: [{ text: `${'x'.repeat(1_000_000)}end` }] })
    hub.show(text, '!')
    hub.end('stopped', null)
    const rest: Frame = (await frames.next()).value
    expect(rest).toMatchObject({ type: 'delta', text: '!', index: (draft.type === 'draft' ? draft.index : 0) + 1 })
    expect((await frames.next()).value).toMatchObject({ type: 'end' })
  })

  it('has no draft when nothing runs', () => {
    const hub = open()
    expect(draftOf(hub)).toBeNull()
    hub.show(text, 'Hello')
    hub.publish(encoded(6, stepEnded))
    expect(draftOf(hub)).toBeNull()
  })

  it('keeps the output of a running call beyond its step, until it is settled', () => {
    const hub = open()
    hub.show(text, 'Hello')
    hub.show(output, 'total 3')
    hub.publish(encoded(6, stepEnded))
    expect(draftOf(hub)).toEqual(['total 3'])
    hub.publish(encoded(7, settled(5)))
    expect(draftOf(hub)).toBeNull()
  })

  it('sends a new subscriber the end of long output', () => {
    const hub = open()
    for (let line = 0; line < 300; line++) hub.show(output, `${line} ${'x'.repeat(1000)}\n`)
    const [shown] = draftOf(hub) ?? []
    expect(shown?.length).toBeLessThanOrEqual(64 * 1024)
    expect(shown).toMatch(/299 x+\n$/)
  })

  it('drops all live text when the turn ends', () => {
    const hub = open()
    hub.show(output, 'half')
    hub.publish(encoded(6, turnEnded('aborted')))
    expect(draftOf(hub)).toBeNull()
  })

  it('sends every subscriber the end and its reason', async () => {
    const hub = open()
    const { subscription } = hub.join()
    hub.end('closing', 500)
    expect(await Array.fromAsync(subscription)).toEqual([
      { type: 'end', sessionId: aSession, reason: 'closing', retryMs: 500 },
    ])
    expect(hub.size).toBe(0)
  })

  it('reports a change when a subscriber joins and when it leaves, once each', () => {
    let changes = 0
    const hub = createHub(aSession, () => void changes++, unready)
    const { leave } = hub.join()
    expect(changes).toBe(1)
    leave()
    leave()
    expect([changes, hub.size]).toEqual([2, 0])
  })

  it('counts a client once, however many subscriptions it holds, and each of those without a name', () => {
    const hub = open()
    const client = ClientId.parse('ada')
    const [one, two, nameless] = [hub.join({ client }), hub.join({ client }), hub.join(), hub.join()]
    expect([hub.size, hub.attached]).toEqual([4, 3])
    one.leave()
    nameless.leave()
    nameless.leave()
    expect([hub.size, hub.attached]).toEqual([2, 2])
    two.leave()
    expect([hub.size, hub.attached]).toEqual([1, 1])
  })
})
