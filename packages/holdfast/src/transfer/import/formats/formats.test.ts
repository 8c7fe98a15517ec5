import { describe, expect, it } from 'vitest'
import { openTestImporter, sessionOf } from '../testing/test-importer.ts'

const at = (minute: number): string => `2026-01-02T03:${String(minute).padStart(2, '0')}:00.000Z`

const kinds = (messages: readonly { readonly kind: string }[]) => messages.map(({ kind }) => kind)

describe('Claude Code', () => {
  const line = (uuid: string, parentUuid: string | null, type: string, message: unknown, more: object = {}) => ({
    ...{ type, uuid, parentUuid, sessionId: 'one', cwd: '/work', timestamp: at(uuid.charCodeAt(1) % 50) },
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

describe('Codex', () => {
  const item = (minute: number, payload: object) => ({ timestamp: at(minute), type: 'response_item', payload })
  const said = (role: string, text: string) => ({
    type: 'message',
    role,
    content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
  })

  it('groups items into turns and calls into rounds', async () => {
    using importer = await openTestImporter()
    const file = await importer.importLines('rollout.jsonl', [
      {
        timestamp: at(0),
        type: 'session_meta',
        payload: { id: 'abc', timestamp: at(0), cwd: '/repo', model_provider: 'openai', instructions: null },
      },
      { timestamp: at(0), type: 'turn_context', payload: { cwd: '/repo', model: 'gpt-5-codex' } },
      item(1, said('user', '<environment_context>linux</environment_context>')),
      item(1, said('user', 'list it')),
      item(2, {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Listing.' }],
        encrypted_content: 'opaque',
      }),
      item(2, { type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}', call_id: 'c1' }),
      item(2, { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin', call_id: 'c2' }),
      item(3, { type: 'function_call_output', call_id: 'c1', output: '{"output":"a\\n","metadata":{"exit_code":2}}' }),
      item(3, { type: 'custom_tool_call_output', call_id: 'c2', output: 'patched' }),
      {
        timestamp: at(3),
        type: 'event_msg',
        payload: {
          type: 'token_count',
          info: {
            total_token_usage: { input_tokens: 9 },
            last_token_usage: { input_tokens: 9, cached_input_tokens: 4, output_tokens: 2 },
          },
        },
      },
      item(4, said('assistant', 'There is a.')),
    ])
    const session = sessionOf(file)
    const messages = await importer.messages(session)
    expect(kinds(messages)).toEqual(['system', 'user', 'thinking', 'tool_call', 'tool_call', 'usage', 'assistant'])
    const calls = messages.flatMap((one) =>
      one.kind === 'tool_call' ? [[one.call.tool, one.call.status, one.call.result?.text]] : [],
    )
    expect(calls).toEqual([
      ['shell', 'error', 'a\n'],
      ['apply_patch', 'complete', 'patched'],
    ])
    const meta = (await importer.store.entry(session))?.entry.meta
    expect([meta?.model, meta?.workspace, meta?.createdAt, meta?.usage.cacheRead]).toEqual([
      'openai/gpt-5-codex',
      '/repo',
      at(0),
      4,
    ])
  })

  it('reads its first version, without envelopes', async () => {
    using importer = await openTestImporter()
    const file = await importer.importLines('rollout.jsonl', [
      { id: 'old', timestamp: at(0), instructions: null },
      { record_type: 'state' },
      said('user', 'hi'),
      said('assistant', 'hello'),
    ])
    expect([file.format, kinds(await importer.messages(sessionOf(file)))]).toEqual(['codex', ['user', 'assistant']])
  })
})

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
    const told = messages.flatMap(({ content }) => content.flatMap((part) => ('text' in part ? [part.text] : [])))
    expect(told).toEqual(['Summary of the conversation so far:\n\nMuch was said.', 'second', 'well', 'third'])
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
    expect(kinds(await importer.messages(sessionOf(grown)))).toEqual(['user', 'assistant', 'user', 'assistant'])
    const other = await importer.importLines('a.jsonl', [
      head,
      entry('1', null, user('other')),
      entry('2', '1', answer(text('no'))),
    ])
    expect(other.status).toBe('changed')
    expect(kinds(await importer.messages(sessionOf(grown))).length).toBe(4)
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
    expect(call?.call.result?.text.length).toBeLessThan(20_000)
  })
})
