import { limits } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { openTestImporter, sessionOf } from '../testing/test-importer.ts'

const at = (minute: number): string => `2026-01-02T03:${String(minute).padStart(2, '0')}:00.000Z`

const kinds = (messages: readonly { readonly kind: string }[]) => messages.map(({ kind }) => kind)

describe('Claude Code', () => {
  const line = (uuid: string, parentUuid: string | null, type: string, message: unknown, more: object = {}) => ({
    type,
    uuid,
    parentUuid,
    sessionId: 'one',
    cwd: '/work',
    timestamp: at(uuid.charCodeAt(1) % 50),
    message,
    ...more,
  })
  const user = (text: string) => ({ role: 'user', content: text })
  const answer = (id: string, ...content: readonly unknown[]) => ({
    id,
    role: 'assistant',
    model: 'claude-x',
    content,
    usage: { input_tokens: 5, output_tokens: 1 },
  })
  const call = (id: string) => ({ type: 'tool_use', id, name: 'Bash', input: { command: id } })
  const result = (id: string, text: string) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: text }],
  })

  it('joins the lines of one answer and includes results of parallel calls', async () => {
    using importer = await openTestImporter()
    const file = await importer.importLines('a.jsonl', [
      line('u1', null, 'user', user('look')),
      line('a1', 'u1', 'assistant', answer('m1', { type: 'thinking', thinking: 'hm', signature: 'opaque' })),
      line('a2', 'a1', 'assistant', answer('m1', call('c1'))),
      line('a3', 'a2', 'assistant', answer('m1', call('c2'))),
      line('r1', 'a2', 'user', result('c1', 'one')),
      line('r2', 'a3', 'user', result('c2', 'two')),
      line('a4', 'r2', 'assistant', answer('m2', { type: 'text', text: 'done' })),
    ])
    const messages = await importer.messages(sessionOf(file))
    expect(kinds(messages)).toEqual(['user', 'thinking', 'tool_call', 'tool_call', 'usage', 'assistant', 'usage'])
    expect(messages.flatMap((one) => (one.kind === 'tool_call' ? [one.call.result?.text] : []))).toEqual(['one', 'two'])
    expect((await importer.store.entry(sessionOf(file)))?.entry.meta.usage.input).toBe(10)
    expect(file.remarks.map(({ code }) => code)).toEqual(['signature_dropped'])
  })

  it('is detected by a first line of more than a megabyte', async () => {
    using importer = await openTestImporter()
    const file = await importer.importLines('a.jsonl', [
      line('u1', null, 'user', user(`see ${'x'.repeat(3 * 1024 * 1024)}`)),
      line('a1', 'u1', 'assistant', answer('m1', { type: 'text', text: 'done' })),
    ])
    expect(file).toMatchObject({ status: 'imported', format: 'claude-code' })
    const pieces = Array<string>(4).fill('user')
    expect(kinds(await importer.messages(sessionOf(file)))).toEqual([...pieces, 'assistant', 'usage'])
  })

  it('says that the lines name several sessions', async () => {
    using importer = await openTestImporter()
    const file = await importer.importLines('a.jsonl', [
      line('u1', null, 'user', user('one')),
      line('u2', 'u1', 'user', user('two'), { sessionId: 'two' }),
      line('u3', 'u2', 'user', user('three'), { sessionId: 'three' }),
    ])
    expect(file.remarks).toContainEqual(
      expect.objectContaining({ code: 'several_sessions', what: expect.stringContaining('3 sessions') }),
    )
  })

  it.each(['user', 'assistant'])('joins and bounds the parts of a message: %s', async (role) => {
    using importer = await openTestImporter()
    const texts = Array.from({ length: 30_000 }, () => ({ type: 'text', text: 'x' }))
    const message = role === 'user' ? { role, content: texts } : answer('m1', ...texts)
    const file = await importer.importLines('a.jsonl', [
      line('u1', null, 'user', user('go')),
      line('u2', 'u1', role, message),
    ])
    expect(file.remarks.map(({ code }) => code)).toContain('parts_joined')
    expect(await importer.records(sessionOf(file))).toHaveLength(role === 'user' ? 7 : 6)
    const said = (await importer.messages(sessionOf(file))).findLast(({ kind }) => kind === role)
    expect(said && 'text' in said ? said.text.replaceAll('\n', '').length : 0).toBe(30_000)
  })

  it('splits texts that are too long for one message, with a remark, and loses nothing', async () => {
    using importer = await openTestImporter()
    const long = `${'a'.repeat(99)}\n`.repeat(25_000)
    const file = await importer.importLines('a.jsonl', [
      line('u1', null, 'user', user(long)),
      line('a1', 'u1', 'assistant', answer('m1', { type: 'text', text: long })),
    ])
    expect(file.remarks.map(({ code }) => code)).toEqual(['text_split', 'text_split'])
    const texts = (await importer.messages(sessionOf(file))).flatMap((one) => ('text' in one ? [one.text] : []))
    expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(limits.importedTextCharsMax)
    expect(texts).toHaveLength(6)
    expect(texts.join('') === long + long).toBe(true)
  })

  it('cuts the arguments of a call that are too long, with a remark', async () => {
    using importer = await openTestImporter()
    const input = { content: 'x'.repeat(2 * limits.importedTextCharsMax) }
    const file = await importer.importLines('a.jsonl', [
      line('u1', null, 'user', user('go')),
      line('a1', 'u1', 'assistant', answer('m1', { type: 'tool_use', id: 't1', name: 'Write', input })),
    ])
    expect(file.remarks.map(({ code }) => code)).toContain('text_cut')
    const records = await importer.records(sessionOf(file))
    expect(JSON.stringify(records).length).toBeLessThan(limits.importedTextCharsMax + 10_000)
  })

  it('leaves out the parts of a message with too many, with a remark', async () => {
    using importer = await openTestImporter()
    const parts = Array.from({ length: 10_100 }, (_, each) =>
      each % 2 === 0 ? { type: 'text', text: 'x' } : { type: 'thinking', thinking: 'y' },
    )
    const file = await importer.importLines('a.jsonl', [
      line('u1', null, 'user', user('go')),
      line('a1', 'u1', 'assistant', answer('m1', ...parts)),
    ])
    expect(file.remarks).toMatchObject([{ code: 'parts_dropped', what: expect.stringContaining('100 parts') }])
    expect((await importer.messages(sessionOf(file))).length).toBe(10_000 + 2)
  })

  it('imports other lines as branches, continues on the newest one and skips subagents', async () => {
    using importer = await openTestImporter()
    const file = await importer.importLines('a.jsonl', [
      { type: 'summary', summary: 'A talk', leafUuid: 'x' },
      line('u1', null, 'user', user('first')),
      line('a1', 'u1', 'assistant', answer('m1', { type: 'text', text: 'yes' })),
      line('u2', 'a1', 'user', user('one way')),
      line('a2', 'u2', 'assistant', answer('m2', { type: 'text', text: 'one' })),
      line('s1', 'a2', 'user', user('aside'), { isSidechain: true }),
      line('u3', 'a1', 'user', user('another way')),
      line('a3', 'u3', 'assistant', answer('m3', { type: 'text', text: 'another' })),
    ])
    const session = sessionOf(file)
    const texts = (await importer.messages(session)).flatMap((one) => ('text' in one ? [one.text] : []))
    expect(texts).toEqual(['first', 'yes', 'another way', 'another'])
    const state = await importer.state(session)
    expect(state.branches.map(({ name, turns }) => [name, turns])).toEqual([['branch-1', 2]])
    expect(state.turns).toBe(2)
    expect((await importer.store.entry(session))?.entry.meta.title).toBe('A talk')
    expect(file.remarks.map(({ code }) => code)).toEqual(['side_chain'])
  })

  it('sends the model the summary of a compaction and nothing before it', async () => {
    using importer = await openTestImporter()
    const file = await importer.importLines('a.jsonl', [
      line('u1', null, 'user', user('long ago')),
      line('a1', 'u1', 'assistant', answer('m1', { type: 'text', text: 'yes' })),
      {
        ...line('b1', null, 'system', null, { subtype: 'compact_boundary', logicalParentUuid: 'a1' }),
        content: 'Compacted',
      },
      line('u2', 'b1', 'user', user('We spoke of much.'), { isCompactSummary: true }),
      line('u3', 'u2', 'user', user('and now?')),
    ])
    const { messages } = await importer.request(sessionOf(file))
    expect(JSON.stringify(messages)).toContain('We spoke of much.')
    expect(JSON.stringify(messages)).not.toContain('long ago')
  })
})
