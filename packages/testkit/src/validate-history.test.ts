import type { ModelRequest, RequestMessage } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { aRequest, userSays } from './a-request.ts'
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

/** Which rules a request breaks. */
const broken = (request: ModelRequest) => [
  ...new Set(validateHistory(request).map((complaint) => complaint.split(':')[0])),
]

describe('validateHistory', () => {
  it('finds nothing wrong with whole rounds, steering after them, and redacted thinking', () => {
    const thinking: RequestMessage = {
      role: 'assistant',
      content: [
        { type: 'thinking', text: '', meta: { anthropic: { redactedData: 'x' } } },
        { type: 'call', id: 'c4', tool: 'shell', args: {} },
      ],
    }
    const request = of(
      userSays('go'),
      asks('c1', 'c2'),
      answers('c1', 'c2'),
      userSays('also'),
      thinking,
      answers('c4'),
      says('Done.'),
    )
    expect(validateHistory(request)).toEqual([])
  })

  it.each([
    ['I1', 'a call at the very end', of(userSays('go'), asks('c1'))],
    ['I1', 'one call of two without a result', of(userSays('go'), asks('c1', 'c2'), answers('c1'))],
    ['I1', 'results in another order than the calls', of(userSays('go'), asks('c1', 'c2'), answers('c2', 'c1'))],
    ['I2', 'a result nobody asked for', of(userSays('go'), asks('c1'), answers('c1', 'c9'))],
    ['I2', 'results after words', of(userSays('go'), says('hm'), answers('c1'))],
    ['I3', 'two results for one call', of(userSays('go'), asks('c1'), answers('c1', 'c1'))],
    ['I4', 'an id used in two rounds', of(userSays('go'), asks('c1'), answers('c1'), asks('c1'), answers('c1'))],
    ['I4', 'an id used twice in one round', of(userSays('go'), asks('c1', 'c1'), answers('c1'))],
    ['I10', 'an empty text', of(userSays('go'), says(''))],
    ['I10', 'a text of nothing but blanks', of(userSays(' \n'))],
    ['I10', 'a message without content', of(userSays('go'), { role: 'assistant', content: [] })],
    ['I11', 'a history that the model begins', of(says('hello'))],
    ['I11', 'no history', of()],
    [
      'I19',
      'half a surrogate pair in a result',
      of(userSays('go'), asks('c1'), {
        role: 'tool',
        content: [{ id: 'c1', tool: 'shell', text: '\ud83d', isError: false }],
      }),
    ],
    ['I19', 'half a surrogate pair in a prompt', of(userSays('\udc00'))],
    [
      'I19',
      'half a surrogate pair in arguments',
      of(
        userSays('go'),
        { role: 'assistant', content: [{ type: 'call', id: 'c1', tool: 'shell', args: { deep: [{ x: '\ud83d' }] } }] },
        answers('c1'),
      ),
    ],
    [
      'I19',
      'a result too long to send',
      of(userSays('go'), asks('c1'), {
        role: 'tool',
        content: [{ id: 'c1', tool: 'shell', text: 'x'.repeat(limits.toolOutputInlineBytesMax * 3), isError: false }],
      }),
    ],
    ['I20', 'an id no provider takes', of(userSays('go'), asks('c 1'), answers('c 1'))],
    ['I20', 'an empty id', of(userSays('go'), asks(''), answers(''))],
    [
      'I20',
      'a tool offered under a name no provider takes',
      aRequest({ tools: [{ name: 'a.b', description: '', input: {} }] }),
    ],
    [
      'I20',
      'a tool offered twice',
      aRequest({
        tools: [
          { name: 'a', description: '', input: {} },
          { name: 'a', description: '', input: {} },
        ],
      }),
    ],
  ])('names %s for %s', (rule, _what, request) => {
    expect(broken(request)).toEqual([rule])
  })

  it('names I5 for words between a call and its results, and I2 for the results that come too late', () => {
    expect(broken(of(userSays('go'), asks('c1'), userSays('wait'), answers('c1')))).toEqual(['I5', 'I2'])
  })

  it('names I7 for arguments that were cut', () => {
    // What no type allows, a stream can bring: the oracle must see it all the same.
    const cut = JSON.parse(
      '{"role":"assistant","content":[{"type":"call","id":"c1","tool":"shell","args":"{\\"comm"}]}',
    )
    expect(broken(of(userSays('go'), cut, answers('c1')))).toEqual(['I7'])
  })
})
