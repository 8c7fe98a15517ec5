import type { AssistantPart, ModelRequest, ProviderMeta, RequestMessage } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { aRequest, userSays } from '../fixtures/request.ts'
import { type HistoryProvider, historyProviders } from './providers.ts'
import { validateHistory } from './validate-history.ts'

const asks = (...ids: readonly string[]): RequestMessage => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'call' as const, id, tool: 'shell', args: { command: 'ls' } })),
})
const answers = (...ids: readonly string[]): RequestMessage => ({
  role: 'tool',
  content: ids.map((id) => ({ id, tool: 'shell', text: 'ok', isError: false })),
})
const says = (text: string): RequestMessage => ({ role: 'assistant', content: [{ type: 'text', text }] })
const of = (...messages: readonly RequestMessage[]): ModelRequest => aRequest({ messages })

/** Returns the names of the rules that a request to a service violates. */
const brokenFor = (provider: HistoryProvider, request: ModelRequest) => [
  ...new Set(validateHistory(provider, request).map((complaint) => complaint.split(':')[0])),
]
/** Creates an answer with thinking and a call. */
const thoughtBy = (meta: ProviderMeta | undefined, ...more: readonly AssistantPart[]): RequestMessage => ({
  role: 'assistant',
  content: [{ type: 'thinking', text: 'hm', meta }, ...more],
})
const call: AssistantPart = { type: 'call', id: 'c4', tool: 'shell', args: {} }
const round = (asked: RequestMessage) => of(userSays('go'), asked, answers('c4'))
/** The opaque data that each service sends with its thinking. */
const ownMeta: Readonly<Record<HistoryProvider, ProviderMeta | undefined>> = {
  anthropic: { anthropic: { redactedData: 'x' } },
  'openai-chat': undefined,
  'openai-responses': { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'x' } },
  gemini: { google: { thoughtSignature: 'x' } },
}

describe.each(historyProviders)('validateHistory for %s', (provider) => {
  const broken = (request: ModelRequest) => brokenFor(provider, request)

  it('accepts complete rounds, steering after them and own thinking', () => {
    const request = of(
      userSays('go'),
      asks('c1', 'c2'),
      answers('c1', 'c2'),
      userSays('also'),
      thoughtBy(ownMeta[provider], call),
      answers('c4'),
    )
    expect(validateHistory(provider, request)).toEqual([])
  })

  it.each([
    ['I1', 'a call at the very end', of(userSays('go'), asks('c1'))],
    ['I1', 'one call of two without a result', of(userSays('go'), asks('c1', 'c2'), answers('c1'))],
    ['I1', 'results in another order than the calls', of(userSays('go'), asks('c1', 'c2'), answers('c2', 'c1'))],
    ['I2', 'a result without a call', of(userSays('go'), asks('c1'), answers('c1', 'c9'))],
    ['I2', 'results after text', of(userSays('go'), says('hm'), answers('c1'))],
    ['I3', 'two results for one call', of(userSays('go'), asks('c1'), answers('c1', 'c1'))],
    ['I4', 'an id used in two rounds', of(userSays('go'), asks('c1'), answers('c1'), asks('c1'), answers('c1'))],
    ['I4', 'an id used twice in one round', of(userSays('go'), asks('c1', 'c1'), answers('c1'))],
    ['I10', 'an empty text', of(userSays('go'), says(''), userSays('more'))],
    ['I10', 'a text of blanks only', of(userSays(' \n'))],
    ['I10', 'a message without content', of(userSays('go'), { role: 'assistant', content: [] }, userSays('more'))],
    ['I11', 'a history that starts with the model', of(says('hello'), userSays('hi'))],
    ['I11', 'no history', of()],
    [
      'I19',
      'an unpaired surrogate in a result',
      of(userSays('go'), asks('c1'), {
        role: 'tool',
        content: [{ id: 'c1', tool: 'shell', text: '\ud83d', isError: false }],
      }),
    ],
    ['I19', 'an unpaired surrogate in a prompt', of(userSays('\udc00'))],
    [
      'I19',
      'an unpaired surrogate in arguments',
      of(
        userSays('go'),
        { role: 'assistant', content: [{ type: 'call', id: 'c1', tool: 'shell', args: { deep: [{ x: '\ud83d' }] } }] },
        answers('c1'),
      ),
    ],
    [
      'I19',
      'an overlong result',
      of(userSays('go'), asks('c1'), {
        role: 'tool',
        content: [{ id: 'c1', tool: 'shell', text: 'x'.repeat(limits.toolOutputInlineBytesMax * 3), isError: false }],
      }),
    ],
    ['I20', 'an id no provider takes', of(userSays('go'), asks('c 1'), answers('c 1'))],
    ['I20', 'an empty id', of(userSays('go'), asks(''), answers(''))],
    ['I20', 'a tool name that no provider accepts', aRequest({ tools: [{ name: 'a.b', description: '', input: {} }] })],
    [
      'I20',
      'two tools with one name',
      aRequest({
        tools: [
          { name: 'a', description: '', input: {} },
          { name: 'a', description: '', input: {} },
        ],
      }),
    ],
  ])('reports %s for %s', (rule, _what, request) => {
    expect(broken(request)).toEqual([rule])
  })

  it('reports I5 for text between a call and its results, and I2 for the late results', () => {
    expect(broken(of(userSays('go'), asks('c1'), userSays('wait'), answers('c1')))).toEqual(['I5', 'I2'])
  })

  it('reports I7 for incomplete arguments', () => {
    // The types do not allow this, but a stream can contain it.
    const cut = JSON.parse(
      '{"role":"assistant","content":[{"type":"call","id":"c1","tool":"shell","args":"{\\"comm"}]}',
    )
    expect(broken(of(userSays('go'), cut, answers('c1')))).toEqual(['I7'])
  })
})

describe('validateHistory for rules of one service', () => {
  it.each<readonly [string, HistoryProvider, string, ModelRequest]>([
    ['I8', 'anthropic', 'thinking without its signature', round(thoughtBy({ anthropic: {} }, call))],
    [
      'I8',
      'anthropic',
      'an answer that ends with thinking',
      of(userSays('go'), thoughtBy(ownMeta['anthropic']), userSays('so?')),
    ],
    [
      'I8',
      'anthropic',
      'unsigned thinking of its own',
      { ...round(thoughtBy(undefined, call)), model: 'anthropic/claude' },
    ],
    [
      'I8',
      'openai-responses',
      'reasoning without an item id',
      round(thoughtBy({ openai: { reasoningEncryptedContent: 'x' } }, call)),
    ],
    ['I8', 'openai-responses', 'reasoning without its content', round(thoughtBy({ openai: { itemId: 'rs_1' } }, call))],
    [
      'I8',
      'openai-responses',
      'split reasoning',
      round(
        thoughtBy(
          ownMeta['openai-responses'],
          { type: 'text', text: 'So.' },
          { type: 'thinking', text: 'on', meta: ownMeta['openai-responses'] },
          call,
        ),
      ),
    ],
    [
      'I8',
      'gemini',
      'an empty signature',
      round({ role: 'assistant', content: [{ ...call, meta: { google: { thoughtSignature: '' } } }] }),
    ],
    ['I9', 'openai-responses', 'thinking of Anthropic', round(thoughtBy(ownMeta['anthropic'], call))],
    [
      'I9',
      'anthropic',
      'a signature of Gemini on a call',
      round({ role: 'assistant', content: [{ ...call, meta: ownMeta['gemini'] }] }),
    ],
    ['I9', 'openai-chat', 'anything opaque', round(thoughtBy(ownMeta['openai-responses'], call))],
    ['I11', 'gemini', 'two messages of people', of(userSays('a'), userSays('b'))],
    ['I11', 'gemini', 'two answers in a row', of(userSays('a'), says('b'), says('c'), userSays('d'))],
    ['I11', 'gemini', 'a last message of the model', of(userSays('a'), says('b'))],
    ['I20', 'openai-chat', 'an id too long', of(userSays('go'), asks('c'.repeat(41)), answers('c'.repeat(41)))],
  ])('reports %s for %s and %s', (rule, provider, _what, request) => {
    expect(brokenFor(provider, request)).toEqual([rule])
  })

  it('accepts what only other services refuse', () => {
    expect(brokenFor('anthropic', of(userSays('a'), userSays('b'), says('c')))).toEqual([])
    expect(brokenFor('gemini', of(userSays('go'), thoughtBy(ownMeta['gemini']), userSays('so?')))).toEqual([])
    expect(brokenFor('openai-responses', of(userSays('go'), asks('c'.repeat(64)), answers('c'.repeat(64))))).toEqual([])
  })
})
