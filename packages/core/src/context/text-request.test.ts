import { describe, expect, it } from 'vitest'
import { cleanTitle, compactionRequest, summaryFileRequest } from './text-request.ts'
import type { Window } from './window.ts'

const window: Window = { summary: 'so far \ud800', pinned: [], prompt: null, messages: [] }

describe('a request for a summary', () => {
  it('has no unpaired surrogates, also in the earlier summary', () => {
    for (const request of [compactionRequest('sim/model', window, []), summaryFileRequest('sim/model', window)])
      expect(JSON.stringify(request.messages)).toContain('so far \ufffd')
  })
})

describe('a title', () => {
  it.each([
    ['Harbour works', 'Harbour works'],
    ['  "Harbour works."\n', 'Harbour works'],
    ['\n\n# Harbour works\nand more', 'Harbour works'],
    ['**Title: Harbour\tworks**', 'Harbour works'],
    ['„Hafen“', 'Hafen'],
    ['\u001b[31mred\u202e', '[31mred'],
    ['...', ''],
    ['', ''],
  ])('is one clean line of what a model wrote: %j', (written, title) => {
    expect(cleanTitle(written)).toBe(title)
  })

  it('has at most 80 characters and no unpaired surrogate', () => {
    expect(cleanTitle('x'.repeat(500))).toHaveLength(80)
    expect(cleanTitle(`${'x'.repeat(79)}\u{1f600}`).isWellFormed()).toBe(true)
  })
})
