import { buildRequest } from '@holdfast/core'
import { continueText, type Outcome } from '@holdfast/protocol'
import { type EventInput, historyProviders, recordsOf, userSaid, validateHistory } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { buildAnswer } from './answer.ts'

type Window = Parameters<typeof buildRequest>[0]['window']

const answered = (step: number, text: string): EventInput => ({
  type: 'text.said',
  turn: 0,
  step,
  text,
  provider: 'demo',
})
const cut = (step: number, text: string): EventInput => ({ ...answered(step, text), interrupted: true }) as EventInput
const calling = (step: number, tool: string): EventInput => ({
  type: 'call.requested',
  turn: 0,
  step,
  tool,
  args: {},
  provider: 'demo',
})
const ran: Outcome = { type: 'ok', output: { text: 'forty-two' } }

/** Returns the demo's answer to a log, by the request of the runtime. Calls end with `outcome`. */
function after(given: readonly EventInput[], outcome: Outcome | null = ran) {
  const messages = recordsOf(given).map(({ seq, event }) => ({ seq, event, outcome })) as Window['messages']
  const request = buildRequest({
    model: 'demo/agent',
    thinkingLevel: 'off',
    system: '',
    tools: ['list_directory', 'shell'].map((name) => ({ name, description: '', input: { type: 'object' } })),
    window: { summary: null, pinned: [], prompt: null, messages },
    files: new Map(),
  })
  expect(historyProviders.flatMap((provider) => validateHistory(provider, request))).toEqual([])
  return { ...buildAnswer(request), request }
}

describe('the demo on continue', () => {
  it('resumes a count after the last number, however often it was cut', () => {
    const once = after([userSaid('count to 9'), cut(9, '1, 2, 3, ')])
    expect(once.request.messages.at(-1)).toEqual({ role: 'user', content: [{ type: 'text', text: continueText }] })
    expect(once).toMatchObject({ text: '', count: { from: 4, to: 9 } })
    const twice = after([userSaid('count to 9'), cut(9, '1, 2, 3, '), cut(12, '4, 5, 6')])
    expect(twice).toMatchObject({ text: '', count: { from: 6, to: 9 } })
  })

  it('does not mistake other numbers for its count', () => {
    const given = [userSaid('hello\ncount to 9'), cut(9, 'I do not understand 7, ')]
    expect(after(given)).toMatchObject({ text: expect.stringContaining('"hello"'), count: { from: 1 } })
  })

  it('says the rest and repeats only the cut text', () => {
    const { text: whole } = after([userSaid('search a\nsearch b')])
    const [first = '', second = ''] = whole.split('\n\n')
    expect(after([userSaid('search a\nplan b'), cut(9, `${first}\n\nMy pl`)]).text).toMatch(/^My plan:/)
    expect(after([userSaid('search a\nsearch b'), cut(9, whole.slice(0, -3))]).text).toBe(second)
  })

  it('completes an answer that `fail cut` cut, without failing again', () => {
    expect(after([userSaid('fail cut')]).failure).toBe('cut')
    const { text, failure } = after([userSaid('fail cut'), cut(9, 'This answer is about to be cut')])
    expect({ text, failure }).toEqual({ text: '… and this is the rest of it.', failure: null })
  })

  it('makes calls that were only announced', () => {
    const { text, calls } = after([userSaid('list src'), cut(9, 'I will use list_dir')])
    expect(text).toBe('I will use list_directory.')
    expect(calls).toEqual([{ tool: 'list_directory', args: { path: 'src' } }])
  })

  it('reports an interrupted round without calling again', () => {
    const round = [userSaid('run ls'), calling(9, 'shell')]
    for (const given of [round, [...round, cut(12, 'shell ret')]]) {
      const { text, calls } = after(given, null)
      expect(text).toMatch(/^shell failed/)
      expect(calls).toEqual([])
    }
    expect(after([...round, cut(12, 'shell ret')]).text).toContain('forty-two')
  })

  it('answers only the newest request, and ignores the continue text', () => {
    const before = [userSaid('count to 3'), answered(9, '1, 2, 3.'), userSaid('count to 5')]
    expect(after([...before, cut(12, '1, 2, ')])).toMatchObject({ text: '', count: { from: 3, to: 5 } })
    expect(after([userSaid('plan b'), cut(9, after([userSaid('plan b')]).text)]).text).toContain('nothing left to say')
    expect(after([userSaid(continueText)]).text).toMatch(/^I am the demo/)
  })
})
