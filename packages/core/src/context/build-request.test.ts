import { BlobHash, type Recorded } from '@holdfast/protocol'
import { aHash, aPng, type EventInput, historyProviders, recordsOf, userSaid, validateHistory } from '@holdfast/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import type { ModelRequest } from '../ports/provider.ts'
import { buildRequest } from './build-request.ts'
import { toWindow } from './window.ts'

const text = (step: number, words: string, more: object = {}): EventInput =>
  ({ type: 'text.said', turn: 0, step, text: words, provider: 'sim', ...more }) as EventInput
const thought = (step: number, more: object = {}): EventInput =>
  ({
    type: 'thinking.said',
    turn: 0,
    step,
    text: 'hm',
    provider: 'sim',
    meta: { sim: { signature: 's' } },
    ...more,
  }) as EventInput
const call = (step: number, tool = 'look', args: Record<string, unknown> = {}): EventInput => ({
  type: 'call.requested',
  turn: 0,
  step,
  tool,
  args,
  provider: 'sim',
})
const outcome = (of: number, words = `result of ${of}`): EventInput => ({
  type: 'call.settled',
  call: of,
  outcome: { type: 'ok', output: { text: words } },
  durationMs: 1,
})

let built: ModelRequest | null = null
/** Seqs count from 1. */
const request = (given: readonly EventInput[], model = 'sim/model', summary: string | null = null): ModelRequest => {
  const records: readonly Recorded[] = recordsOf(given)
  built = buildRequest({
    model,
    thinkingLevel: 'off',
    system: '',
    tools: [],
    window: toWindow({ summary, from: 0, records, settled: records }),
    files: new Map(),
  })
  return built
}
/** Returns each message in short: its role and its parts. */
const shape = ({ messages }: ModelRequest) =>
  messages.map(({ role, content }) => {
    const parts = content.map((part) =>
      'type' in part && part.type === 'call'
        ? `call ${part.id}`
        : 'id' in part
          ? `${part.id}: ${part.text}`
          : 'text' in part
            ? part.text
            : 'file',
    )
    return `${role}: ${parts.join(' | ')}`
  })

describe('a request', () => {
  // Every request that a test builds must be accepted by every provider.
  afterEach(() => {
    const complaints = historyProviders.flatMap((provider) => (built ? validateHistory(provider, built) : ['nothing']))
    expect(complaints).toEqual([])
  })

  it('has the messages of the conversation in order', () => {
    expect(shape(request([userSaid('hi'), text(9, 'hello'), userSaid('and?')]))).toEqual([
      'user: hi',
      'assistant: hello',
      'user: and?',
    ])
  })

  it('has the results of parallel calls in call order, in whatever order they arrived', () => {
    const given = [userSaid('go'), call(9), call(9), call(9), outcome(4), outcome(2), outcome(3)]
    expect(shape(request(given))[2]).toBe('tool: c2: result of 2 | c3: result of 3 | c4: result of 4')
  })

  it('adds steering after the results, never between a call and its result', () => {
    const given = [userSaid('go'), call(9), outcome(2), userSaid('stop that')]
    expect(shape(request(given))).toEqual([
      'user: go',
      'assistant: call c2',
      'tool: c2: result of 2',
      'user: stop that',
    ])
  })

  it('has an interrupted result for a call that a crash left open', () => {
    expect(shape(request([userSaid('go'), call(9), userSaid('well?')]))[2]).toMatch(
      /^tool: c2: interrupted: cut short by a crash/,
    )
  })

  it('sends the first outcome of a call and not a later one', () => {
    expect(shape(request([userSaid('go'), call(9), outcome(2), outcome(2, 'late')]))[2]).toBe('tool: c2: result of 2')
  })

  it('keeps the text of an interrupted answer, and asks the model to continue', () => {
    expect(shape(request([userSaid('go'), text(9, 'I was', { interrupted: true })]))).toEqual([
      'user: go',
      'assistant: I was',
      'user: Continue.',
    ])
  })

  it('never has two consecutive assistant messages', () => {
    const given = [userSaid('go'), text(9, 'I was', { interrupted: true }), text(12, 'saying')]
    expect(shape(request(given))).toEqual([
      'user: go',
      'assistant: I was',
      'user: Continue.',
      'assistant: saying',
      'user: Continue.',
    ])
  })

  it('begins with a user message, even if the line does not', () => {
    expect(shape(request([text(9, 'hello')]))[0]).toBe('user: Continue.')
    expect(shape(request([call(9), outcome(1)]))[0]).toBe('user: Continue.')
    expect(shape(request([]))).toEqual(['user: Continue.'])
  })

  it('begins with the summary of what was cut off', () => {
    expect(shape(request([userSaid('and now?')], 'sim/model', 'They met.'))).toEqual([
      'user: Summary of the conversation so far:\n\nThey met. | and now?',
    ])
  })

  it('joins consecutive user messages', () => {
    expect(shape(request([userSaid('a'), userSaid('b')]))).toEqual(['user: a | b'])
  })

  it('sends thinking unchanged, at its position, to the provider that wrote it', () => {
    const sent = request([userSaid('go'), thought(9), call(9), outcome(3)]).messages[1]
    expect(sent?.content[0]).toEqual({ type: 'thinking', text: 'hm', meta: { sim: { signature: 's' } } })
  })

  it('sends no thinking, and nothing opaque, to another provider', () => {
    const given = [userSaid('go'), thought(9), text(9, 'ok', { meta: { sim: 'opaque' } }), userSaid('more')]
    expect(request(given, 'other/model').messages[1]).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'ok' }],
    })
  })

  it('sends no interrupted thinking, and no answer that has only that', () => {
    expect(shape(request([userSaid('go'), thought(9, { interrupted: true }), text(12, 'ok')]))[1]).toBe('assistant: ok')
    expect(shape(request([userSaid('go'), thought(9), userSaid('well?')]))).toEqual(['user: go | well?'])
    expect(shape(request([userSaid('go'), text(9, 'ok'), thought(9), userSaid('well?')]))[1]).toBe('assistant: ok')
  })

  it.each(['', ' ', '\n\t'])('has no empty text (%j)', (empty) => {
    expect(shape(request([userSaid('go'), text(9, empty), userSaid('more')]))).toEqual(['user: go | more'])
    expect(shape(request([userSaid(empty)]))).toEqual(['user: Continue.'])
  })

  it('sends an answer with unreadable thinking without opaque data', () => {
    const meta = { sim: { id: 'm' } }
    const { messages } = request([userSaid('a'), thought(2, { text: 'h\ud800' }), thought(2), text(2, 'b', { meta })])
    expect(messages[1]).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'b' }] })
  })

  it('sends no opaque data with a changed part', () => {
    const meta = { sim: { signature: 's' } }
    const signed = (tool: string, args = {}): EventInput => ({ ...call(2, tool, args), meta }) as EventInput
    const { messages } = request([
      userSaid('a'),
      text(2, 'b\ud800', { meta }),
      signed('api:look'),
      signed('look', { a: '\ud800' }),
      signed('look'),
    ])
    expect(messages[1]?.content.map((part) => 'meta' in part)).toEqual([false, false, false, true])
  })

  it('has no unpaired surrogates in text, arguments or results', () => {
    request([
      userSaid('a\ud800'),
      text(9, 'b\udc00'),
      call(9, 'look', { 'k\ud800': ['\ud800', { deep: '\ud800' }] }),
      outcome(3, 'c\ud800'),
    ])
    expect(JSON.stringify(built)).not.toMatch(/\\ud[89a-f]/)
  })

  it.each([['no such tool!'], [''], ['x'.repeat(100)], ['mcp__ä']])(
    'replaces a tool name that providers reject (%j)',
    (name) => {
      const { messages } = request([userSaid('go'), call(9, name), outcome(2)])
      const [called] = messages[1]?.content ?? []
      const [answered] = messages[2]?.content ?? []
      expect(called && 'tool' in called && called.tool).toBe(answered && 'tool' in answered && answered.tool)
    },
  )

  it('sends a note if a file is missing', () => {
    const content = [{ type: 'file' as const, blob: aHash, mediaType: 'image/png', name: 'a.png', bytes: 3 }]
    expect(shape(request([{ type: 'user.said', turn: 0, content }]))).toEqual(['user: [the file a.png is gone]'])
  })

  it('has the bytes of a stored file', () => {
    const bytes = aPng()
    const content = [{ type: 'file' as const, blob: aHash, mediaType: 'image/png', bytes: bytes.length }]
    const window = toWindow({
      summary: null,
      from: 0,
      settled: [],
      records: recordsOf([{ type: 'user.said', turn: 0, content }]),
    })
    const files = new Map([[BlobHash.parse(aHash), bytes]])
    built = buildRequest({ model: 'sim/m', thinkingLevel: 'off', system: '', tools: [], window, files })
    expect(built.messages[0]?.content[0]).toEqual({ type: 'file', mediaType: 'image/png', bytes })
  })

  it('is the same bytes for the same log', () => {
    const given = [userSaid('go'), thought(9), call(9), outcome(3), userSaid('more')]
    expect(JSON.stringify(request(given))).toBe(JSON.stringify(request(given)))
  })
})
