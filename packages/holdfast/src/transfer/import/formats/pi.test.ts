import { describe, expect, it } from 'vitest'
import { openTestImporter, sessionOf } from '../testing/test-importer.ts'

const at = (minute: number): string => `2026-01-02T03:${String(minute).padStart(2, '0')}:00.000Z`

const kinds = (messages: readonly { readonly kind: string }[]) => messages.map(({ kind }) => kind)

describe('pi', () => {
  const entry = (id: string, parentId: string | null, message: object) => ({
    type: 'message',
    id,
    parentId,
    timestamp: at(1),
    message,
  })
  const head = { type: 'session', version: 3, id: 'p1', timestamp: at(0), cwd: '/repo' }
  const user = (text: string) => ({ role: 'user', content: text })
  const answer = (...content: readonly object[]) => ({
    role: 'assistant',
    provider: 'anthropic',
    model: 'claude-x',
    content,
  })
  const text = (words: string) => ({ type: 'text', text: words })

  it('imports every branch of its tree and the tail that a compaction kept', async () => {
    using importer = await openTestImporter()
    const file = await importer.importLines('a.jsonl', [
      head,
      entry('1', null, user('first')),
      entry('2', '1', answer(text('yes'))),
      entry('3', '2', user('tried')),
      entry('4', '3', answer(text('in vain'))),
      entry('5', '2', user('second')),
      entry('6', '5', answer(text('well'))),
      {
        type: 'compaction',
        id: '7',
        parentId: '6',
        timestamp: at(2),
        summary: 'Much was said.',
        firstKeptEntryId: '5',
        tokensBefore: 9,
      },
      entry('8', '7', user('third')),
      { type: 'session_info', id: '9', parentId: '8', timestamp: at(3), name: 'A tree' },
    ])
    const session = sessionOf(file)
    const { messages } = await importer.request(session)
    const texts = messages.flatMap(({ content }) => content.flatMap((part) => ('text' in part ? [part.text] : [])))
    expect(texts).toEqual(['Summary of the conversation so far:\n\nMuch was said.', 'second', 'well', 'third'])
    const state = await importer.state(session)
    expect(state.branches.length).toBe(1)
    expect((await importer.store.entry(session))?.entry.meta.title).toBe('A tree')
  })

  it('adds what a source has gained and reports when it differs', async () => {
    using importer = await openTestImporter()
    const begun = [head, entry('1', null, user('first')), entry('2', '1', answer(text('yes')))]
    const first = await importer.importLines('a.jsonl', begun)
    const more = [...begun, entry('3', '2', user('second')), entry('4', '3', answer(text('well')))]
    const grown = await importer.importLines('a.jsonl', more)
    expect([first.status, grown.status, grown.session]).toEqual(['imported', 'grown', first.session])
    expect(kinds(await importer.messages(sessionOf(grown)))).toEqual([
      'user',
      'assistant',
      'usage',
      'user',
      'assistant',
    ])
    const other = await importer.importLines('a.jsonl', [
      head,
      entry('1', null, user('other')),
      entry('2', '1', answer(text('no'))),
    ])
    expect(other.status).toBe('changed')
    expect(kinds(await importer.messages(sessionOf(grown))).length).toBe(5)
  })

  it('stores a long output completely beside its head and tail', async () => {
    using importer = await openTestImporter()
    const long = 'x'.repeat(100_000)
    const file = await importer.importLines('a.jsonl', [
      head,
      entry('1', null, user('dump')),
      entry('2', '1', answer({ type: 'toolCall', id: 'c', name: 'bash', arguments: {} })),
      entry('3', '2', { role: 'toolResult', toolCallId: 'c', content: [text(long)] }),
    ])
    const call = (await importer.messages(sessionOf(file))).find((one) => one.kind === 'tool_call')
    expect(call?.call.result?.blob?.bytes).toBe(100_000)
    expect(call?.call.result?.text.length).toBeLessThan(40_000)
  })
})
