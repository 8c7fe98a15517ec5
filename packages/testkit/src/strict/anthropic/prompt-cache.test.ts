import { describe, expect, it } from 'vitest'
import { createPromptCache, marksComplaint } from './prompt-cache.ts'

const mark = { cache_control: { type: 'ephemeral' } }
const text = (text: string, more: object = {}) => ({ type: 'text', text, ...more })
const request = (system: string, ...contents: readonly (readonly object[])[]) => ({
  model: 'claude',
  system: [text(system, mark)],
  messages: contents.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })),
})

describe('prompt cache', () => {
  it('reads what an earlier request cached, wherever the marks are now', () => {
    const cache = createPromptCache()
    const first = cache.take(request('s', [text('a', mark)]))
    expect(first).toMatchObject({ cache_read_input_tokens: 0 })
    const second = cache.take(request('s', [text('a')], [text('b')], [text('c', mark)]))
    expect(second.cache_read_input_tokens).toBe(first.cache_creation_input_tokens)
    expect(second.cache_creation_input_tokens).toBeGreaterThan(0)
  })

  it('reads nothing after a changed byte or without a mark', () => {
    const cache = createPromptCache()
    cache.take(request('s', [text('a', mark)]))
    expect(cache.take(request('S', [text('a', mark)])).cache_read_input_tokens).toBe(0)
    const unmarked = { model: 'claude', messages: [{ role: 'user', content: [text('a')] }] }
    expect(cache.take(unmarked)).toEqual({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 })
  })

  it('does not look too far back from a mark', () => {
    const cache = createPromptCache()
    const written = cache.take(request('s', [text('a', mark)]))
    const far = Array.from({ length: 25 }, (_, index) => text(`b${index}`))
    const late = { ...request('s', [text('a'), ...far, text('c', mark)]), system: [text('s')] }
    expect(cache.take(late).cache_read_input_tokens).toBe(0)
    const near = { ...request('s', [text('a', mark), ...far, text('c', mark)]), system: [text('s')] }
    expect(cache.take(near).cache_read_input_tokens).toBeGreaterThanOrEqual(written.cache_creation_input_tokens)
  })

  it('refuses a fifth mark, and one on thinking', () => {
    const five = Array.from({ length: 4 }, (_, index) => text(`${index}`, mark))
    expect(marksComplaint(request('s', five))).toMatch(/maximum of 4 blocks.*Found 5/)
    const thought = { type: 'thinking', thinking: 'hm', signature: 's', ...mark }
    expect(marksComplaint(request('s', [text('a')], [thought]))).toMatch(/^messages\.1\.content\.0: .*thinking/)
    expect(marksComplaint(request('s', [text('a', mark)]))).toBeNull()
  })
})
