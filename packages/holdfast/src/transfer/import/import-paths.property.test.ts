import { validateHistory } from '@holdfast/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openTestImporter } from './testing/test-importer.ts'

const word = fc.constantFrom('a', 'b', 'c', '', ' ', '\ud800', '\u202e', '0001-01-01T00:00:00Z', '2026-01-02T03:04:05Z')
const loose = fc.letrec((tie) => ({
  value: fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(
    fc.constantFrom(
      'type',
      'role',
      'content',
      'text',
      'id',
      'message',
      'parentId',
      'uuid',
      'parentUuid',
      'tool_calls',
      'payload',
      'input',
    ),
    tie('value'),
    { maxKeys: 5 },
  ),
}))['object']

const callId = fc.constantFrom('c1', 'c2', 'c3')
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text: word }),
  fc.record({ type: fc.constant('tool_use'), tool_id: callId, tool_name: word, input: fc.oneof(loose, word) }),
  fc.record({ type: fc.constant('tool_result'), tool_id: callId, output: word, is_error: fc.boolean() }),
  loose,
)
const ggcodeLine = fc.record({
  type: fc.constantFrom('message', 'checkpoint', 'meta', 'usage', 'other'),
  session_id: fc.constant('s'),
  message: fc.record({
    id: word,
    role: fc.constantFrom('user', 'assistant', 'system', 'odd'),
    content: fc.array(block, { maxLength: 4 }),
  }),
  checkpoint_summary_msg_id: word,
  checkpoint_last_msg_id: word,
})
const piLine = fc.record({
  type: fc.constantFrom('message', 'compaction', 'session'),
  id: fc.constantFrom('1', '2', '3', '4'),
  parentId: fc.constantFrom('1', '2', '3', '4', null),
  summary: word,
  firstKeptEntryId: fc.constantFrom('1', '2', '3', '4'),
  message: fc.record({
    role: fc.constantFrom('user', 'assistant', 'toolResult'),
    content: fc.array(loose, { maxLength: 3 }),
    toolCallId: callId,
  }),
})
const claudeLine = fc.record({
  type: fc.constantFrom('user', 'assistant', 'system', 'odd'),
  sessionId: fc.constant('s'),
  uuid: fc.constantFrom('1', '2', '3', '4'),
  parentUuid: fc.constantFrom('1', '2', '3', '4', null),
  isSidechain: fc.constantFrom(true, false, false),
  message: fc.record({
    id: fc.constantFrom('m1', 'm2'),
    content: fc.oneof(
      word,
      fc.array(
        fc.oneof(
          fc.record({ type: fc.constant('text'), text: word }),
          fc.record({ type: fc.constant('tool_use'), id: callId, name: word, input: loose }),
          fc.record({ type: fc.constant('tool_result'), tool_use_id: callId, content: word }),
          loose,
        ),
        { maxLength: 3 },
      ),
    ),
  }),
})
const damaged = fc.oneof(
  word,
  fc.constant('{"type":"mess'),
  fc.constant('\0\0\0'),
  fc.constant('[1]'),
  fc.constant('{"role":"user","content":"x"}'),
)
const lines = fc.oneof(
  ...[ggcodeLine, piLine, claudeLine, loose].map((line) =>
    fc.array(
      fc.oneof({ arbitrary: line.map((value) => JSON.stringify(value)), weight: 5 }, { arbitrary: damaged, weight: 1 }),
      { maxLength: 12 },
    ),
  ),
)

describe('import of random lines', () => {
  it('never throws; the session continues with every service and imports the same again', async () => {
    await fc.assert(
      fc.asyncProperty(lines, async (written) => {
        using importer = await openTestImporter()
        const file = await importer.importLines('a.jsonl', written)
        expect(['imported', 'empty', 'skipped']).toContain(file.status)
        if (file.session === null) return
        const request = await importer.request(file.session)
        for (const service of ['anthropic', 'openai-responses', 'openai-chat', 'gemini'] as const)
          expect(validateHistory(service, request)).toEqual([])
        expect((await importer.state(file.session)).turn.phase).toBe('idle')
        expect((await importer.importLines('a.jsonl', written)).status).toBe('same')
      }),
      { numRuns: 300 },
    )
  })
})
