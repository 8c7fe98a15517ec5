import { CallId, type FrameOf, StepId } from '@holdfast/protocol'
import { aSession, recordsOf, stepEnded } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createLiveAnswer } from './live-answer.ts'

const step = StepId.parse(4)
const text = { step, part: 0, kind: 'text' as const }
const output = { step, part: 5, kind: 'output' as const, call: CallId.parse(5), tool: 'shell' }

/** A live answer whose slices end when the test says so. */
function open() {
  const sent: FrameOf<'delta'>[] = []
  let ending: (() => void)[] = []
  const live = createLiveAnswer(aSession, { send: (frame) => sent.push(frame), afterSlice: (go) => ending.push(go) })
  const endSlice = () => {
    const now = ending
    ending = []
    for (const go of now) go()
  }
  return { live, sent, endSlice, texts: () => sent.map((frame) => frame.text) }
}

describe('the live answer', () => {
  it('shows the first fragment at once', () => {
    const { live, sent } = open()
    live.show(text, 'Hello')
    expect(sent).toMatchObject([{ type: 'delta', step, part: 0, kind: 'text', index: 0, text: 'Hello' }])
  })

  it('shows each fragment at once if each arrives in a slice of its own', () => {
    const { live, endSlice, texts } = open()
    for (const word of ['a', 'b', 'c']) {
      live.show(text, word)
      expect(texts().at(-1)).toBe(word)
      endSlice()
    }
    expect(texts()).toEqual(['a', 'b', 'c'])
  })

  it('joins the fragments that follow in the same slice to one frame', () => {
    const { live, sent, endSlice, texts } = open()
    const words = Array.from({ length: 2000 }, (_, index) => `${index} `)
    for (const word of words) live.show(text, word)
    expect(texts()).toEqual(['0 '])
    endSlice()
    expect(texts().join('')).toBe(words.join(''))
    expect(sent.map(({ index }) => index)).toEqual([0, 1])
    endSlice()
    expect(sent).toHaveLength(2)
  })

  it('shows the first fragment of another part at once, after all of the part before', () => {
    const { live, endSlice, texts } = open()
    for (const word of ['a', 'b', 'c']) live.show(text, word)
    live.show(output, 'total')
    expect(texts()).toEqual(['a', 'bc', 'total'])
    live.show(output, ' 3')
    endSlice()
    expect(texts()).toEqual(['a', 'bc', 'total', ' 3'])
  })

  it('shows the first fragment of the next step at once, as its number 0', () => {
    const { live, sent } = open()
    live.show(text, 'a')
    live.show({ ...text, step: StepId.parse(9) }, 'b')
    expect(sent.map(({ index, text: shown }) => [index, shown])).toEqual([
      [0, 'a'],
      [0, 'b'],
    ])
  })

  it('holds no more than one frame', () => {
    const { live, texts } = open()
    const long = 'x'.repeat(50_000)
    for (let fragment = 0; fragment < 10; fragment++) live.show(text, long)
    expect(texts().join('').length).toBeGreaterThanOrEqual(300_000)
    expect(texts().every((piece) => piece.length <= 128 * 1024)).toBe(true)
  })

  it('sends what waits before it gives a draft, so that no fragment is in both or in none', () => {
    const { live, sent, endSlice, texts } = open()
    for (const word of ['a', 'b', 'c']) live.show(text, word)
    expect(live.draft()).toMatchObject({ index: 1, parts: [{ text: 'abc' }] })
    expect(texts()).toEqual(['a', 'bc'])
    live.show(text, 'd')
    endSlice()
    expect(sent.at(-1)).toMatchObject({ index: 2, text: 'd' })
  })

  it('sends what waits before its record drops it', () => {
    const { live, endSlice, texts } = open()
    for (const word of ['a', 'b']) live.show(text, word)
    for (const { event } of recordsOf([stepEnded], 6)) live.drop(event)
    expect(texts()).toEqual(['a', 'b'])
    endSlice()
    expect(texts()).toEqual(['a', 'b'])
    expect(live.draft()).toBeNull()
  })

  it('knows all output of a call, also what is not sent yet', () => {
    const { live } = open()
    for (const line of ['one\n', 'two\n']) live.show(output, line)
    expect(live.printed()).toEqual(new Map([[5, 'one\ntwo\n']]))
  })
})
