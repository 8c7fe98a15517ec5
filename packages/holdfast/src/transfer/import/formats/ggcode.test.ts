import { describe, expect, it } from 'vitest'
import { openTestImporter, sessionOf } from '../testing/test-importer.ts'

const session_id = '20260313-090000-9f4a1d586fb7fb49'
const meta = { type: 'meta', session_id, title: 'Harbour', tunnel_events_complete: true }
const said = (role: string, text: string) => ({
  type: 'message',
  session_id,
  message: { role, content: [{ type: 'text', text }] },
})
const event = (number: number, data: unknown = { chunk: 'he' }) => ({
  type: 'tunnel_event',
  session_id,
  tunnel_event: { event_id: `ev-${number}`, stream_id: 's1', type: 'text', data },
})
const cost = { type: 'cost', session_id, cost: { total_cost_usd: 0.25, by_model: { odd: [1, null] } } }

describe('client events of ggcode', () => {
  const lines = [meta, event(1), said('user', 'hello'), event(2), event(2, 'again'), said('assistant', 'hi'), cost]

  it('are stored unchanged, once each and in order, and so is its cost record', async () => {
    using importer = await openTestImporter()
    const file = await importer.importLines('a.jsonl', lines)
    const records = await importer.records(sessionOf(file))
    expect(records.flatMap(({ event: one }) => (one.type === 'client.said' ? [one] : []))).toEqual([
      {
        type: 'client.said',
        event: { eventId: 'ev-1', streamId: 's1', type: 'text', data: { chunk: 'he' } },
        complete: true,
      },
      { type: 'client.said', event: { eventId: 'ev-2', streamId: 's1', type: 'text', data: { chunk: 'he' } } },
      { type: 'client.said', event: { eventId: 'ggcode.cost.7', type: 'ggcode.cost', data: cost.cost } },
    ])
    const types = records.map(({ event: one }) => one.type)
    expect(types.indexOf('client.said')).toBeLessThan(types.indexOf('user.said'))
    expect((await importer.state(sessionOf(file))).clientEventsComplete).toBe(true)
    expect(JSON.stringify(await importer.request(sessionOf(file)))).not.toContain('chunk')
  })

  it('are added to the same session when the file has grown', async () => {
    using importer = await openTestImporter()
    const first = await importer.importLines('a.jsonl', lines.slice(0, -1))
    const grown = await importer.importLines('a.jsonl', [...lines.slice(0, -1), event(3), said('user', 'more')])
    expect([first.status, grown.status]).toEqual(['imported', 'grown'])
    expect(sessionOf(grown)).toBe(sessionOf(first))
  })
})

describe('checkpoints of ggcode', () => {
  /** Counts the characters that are written for a file in which every second record names the same long summary. */
  const countWritten = async (checkpoints: number): Promise<number> => {
    using importer = await openTestImporter()
    const message = { id: 'summary', role: 'system', content: [{ type: 'text', text: 'c'.repeat(20_000) }] }
    const lines: unknown[] = [meta, { type: 'message', session_id, message }]
    for (let each = 0; each < checkpoints; each++)
      lines.push(said('user', `q${each}`), { type: 'checkpoint', session_id, checkpoint_summary_msg_id: 'summary' })
    const records = await importer.records(sessionOf(await importer.importLines('a.jsonl', lines)))
    return records.reduce((sum, { event: one }) => sum + JSON.stringify(one).length, 0)
  }

  it('write a summary once, however many of them name it', async () => {
    const [few, many] = [await countWritten(50), await countWritten(100)]
    expect(many).toBeLessThan(2 * few)
    expect(many).toBeLessThan(100_000)
  })
})
