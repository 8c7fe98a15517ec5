import { describe, expect, it } from 'vitest'
import { openTestImporter, sessionOf } from '../testing/test-importer.ts'

const at = (minute: number): string => `2026-01-02T03:${String(minute).padStart(2, '0')}:00.000Z`

const kinds = (messages: readonly { readonly kind: string }[]) => messages.map(({ kind }) => kind)

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
    expect([file.format, kinds(await importer.messages(sessionOf(file)))]).toEqual([
      'codex',
      ['user', 'assistant', 'usage'],
    ])
  })
})
