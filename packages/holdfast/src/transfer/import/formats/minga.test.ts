import { invariant } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { openTestImporter, sessionOf } from '../testing/test-importer.ts'

const document = {
  id: 'one',
  title: 'Ports',
  model_name: 'anthropic:claude-sonnet-4',
  provider_name: 'native',
  timestamp: '2026-03-10T08:00:00Z',
  last_message_at: '2026-03-12T09:30:00Z',
  messages: [
    { type: 'user', text: 'Which port?' },
    { type: 'thinking', text: 'Let me see.' },
    { type: 'assistant', text: '8080.' },
    { type: 'user', text: 'And at night?' },
    { type: 'assistant', text: 'The same.' },
  ],
  message_ids: [4, 5, 6, 7, 8],
  pinned_ids: [6, 7, 99],
  branches: [],
  memory: '- Prefers short answers.',
  usage: { input: 100, output: 20, cache_read: 5, cache_write: 1, cost: 0.25 },
}

async function importDocument(changes: object = {}) {
  using importer = await openTestImporter()
  const [file] = await importer.import(importer.place({ 'a.json': JSON.stringify({ ...document, ...changes }) }))
  invariant(file, 'one file, one answer')
  const session = sessionOf(file)
  const row = await importer.store.entry(session)
  invariant(row, 'it is in the store')
  return { file, meta: row.entry.meta, messages: await importer.messages(session) }
}

describe('a session of Minga', () => {
  it('keeps its times, its usage, its pins and its memory', async () => {
    const { file, meta, messages } = await importDocument()
    expect([meta.createdAt, meta.lastMessageAt]).toEqual(['2026-03-10T08:00:00.000Z', '2026-03-12T09:30:00.000Z'])
    expect(meta.usage).toEqual({ input: 100, output: 20, cacheRead: 5, cacheWrite: 1, cost: 0.25 })
    const pinned = messages.flatMap((message) => (message.pinned && 'text' in message ? [message.text] : []))
    expect(pinned).toEqual(['8080.', 'And at night?'])
    expect(messages[0]).toMatchObject({ kind: 'system', text: expect.stringContaining('- Prefers short answers.') })
    expect(file.remarks.map(({ code }) => code)).toEqual(['pin_dropped', 'workdir_missing'])
  })

  it('counts the usage of its messages once', async () => {
    const usage = { type: 'usage', data: { input: 60, output: 12, cache_read: 0, cache_write: 0, cost: 0.1 } }
    const messages = [...document.messages, usage]
    const { meta } = await importDocument({ messages, message_ids: [4, 5, 6, 7, 8, 9] })
    expect(meta.usage).toEqual({ input: 100, output: 20, cacheRead: 5, cacheWrite: 1, cost: 0.25 })
  })

  it('has an unknown cost if the file does not say it', async () => {
    const unknown = [undefined, { input: 0, output: 0, cost: 0 }, { input: 100, output: 20 }]
    for (const usage of unknown) expect((await importDocument({ usage })).meta.usage.cost).toBeNull()
  })
})
