import { describe, expect, it } from 'vitest'
import { artefactRequest, compactionRequest } from './summary-request.ts'
import type { Window } from './window.ts'

const window: Window = { summary: 'so far \ud800', pinned: [], prompt: null, messages: [] }

describe('a request for a summary', () => {
  it('has no half characters, in the summary that it takes up either', () => {
    for (const request of [compactionRequest('sim/model', window, []), artefactRequest('sim/model', window)])
      expect(JSON.stringify(request.messages)).toContain('so far \ufffd')
  })
})
