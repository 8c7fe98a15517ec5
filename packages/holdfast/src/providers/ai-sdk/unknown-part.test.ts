import { aRequest } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createModels } from '../models.ts'
import { collect } from './testing/collect.ts'
import { startFixedServer } from './testing/http-server.ts'

type Event = { readonly type: string; readonly [name: string]: unknown }

const opening: Event = {
  type: 'message_start',
  message: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    usage: { input_tokens: 9, output_tokens: 1 },
  },
}
const blockOf = (index: number, content_block: Event, ...deltas: readonly Event[]): readonly Event[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
const words = (text: string): Event => ({ type: 'text_delta', text })
const closing: readonly Event[] = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]

async function buildAnswer(...events: readonly Event[]) {
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  await using server = await startFixedServer(200, body, { 'content-type': 'text/event-stream' })
  const environment = { ANTHROPIC_API_KEY: 'key-1', ANTHROPIC_BASE_URL: server.url }
  const found = createModels({ environment }).find('anthropic/claude-sonnet-4-5')
  if (found.type !== 'ready') throw new Error(found.message)
  return await collect(found.provider, aRequest())
}

describe('an unknown event of Anthropic', () => {
  const after = blockOf(1, { type: 'text', text: '' }, words('after'))
  const hologram = { type: 'hologram', data: 'z' }

  it.each([
    ['an event', [{ type: 'weather_report', sky: 'blue' }], 1],
    ['a block', blockOf(0, hologram, { type: 'hologram_delta', z: 1 }), 2],
    ['a block with text', blockOf(0, hologram, words('not for you')), 2],
  ])('is recorded with the following text: %s', async (_what, events, count) => {
    const { said, parts, end } = await buildAnswer(opening, ...events, ...after, ...closing)
    expect(end).toMatchObject({ type: 'complete', finish: 'stop', usage: { input: 9, output: 5 } })
    expect(said).toMatchObject([{ type: 'text', text: 'after' }])
    expect(parts.flatMap((part) => (part.type === 'delta' ? [part.text] : []))).toEqual(['after'])
    const kept = said[0]?.meta?.['holdfast']
    expect(kept).toMatchObject({
      kept: [{ type: 'unknown', value: events[0] }, ...Array(count - 1).fill(expect.anything())],
    })
  })

  it('does not excuse a malformed required event', async () => {
    const broken = { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', name: 'one' } }
    expect((await buildAnswer(opening, broken, ...after, ...closing)).end).toMatchObject({
      fault: { kind: 'raw_dump' },
    })
    const error = { type: 'error', error: { type: 'odd_error', message: 'It broke.' } }
    expect((await buildAnswer(opening, ...after, error)).end).toMatchObject({
      fault: { message: expect.stringContaining('It broke.') },
    })
  })

  it('does not complete an answer that is cut after it', async () => {
    expect((await buildAnswer(opening, ...blockOf(0, hologram), ...after)).end).toMatchObject({
      type: 'failed',
      fault: { kind: 'unreachable', message: expect.stringContaining('broke before the answer was complete') },
    })
  })
})
