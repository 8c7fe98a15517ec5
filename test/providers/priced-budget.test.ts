import { type Budgets, orThrow } from '@holdfast/protocol'
import { type AnthropicServer, aTool, openTestRuntime, startAnthropicServer } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createModels } from '../../packages/holdfast/src/providers/models.ts'
import { createMemoryBlobs } from '../../packages/holdfast/src/store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../packages/holdfast/src/store/memory/memory-store.ts'

const model = 'anthropic/claude-sonnet-4-5'
const usage = { input_tokens: 10_000, output_tokens: 2_000 }

let server: AnthropicServer
beforeEach(async () => {
  server = await startAnthropicServer()
})
afterEach(() => server[Symbol.asyncDispose]())

/** A session with two tool calls, at the prices of the catalogue. */
async function open(name: string, budgets: Budgets) {
  const look = { type: 'message' as const, content: [{ type: 'tool_use' as const, name: 'look', input: {} }], usage }
  server.answer(look, look, { type: 'message', content: [{ type: 'text', text: 'Seen.' }], usage })
  const models = createModels({ environment: { ANTHROPIC_API_KEY: 'key-1', ANTHROPIC_BASE_URL: server.url } })
  const runtime = await openTestRuntime({
    store: createMemoryStore(),
    blobs: createMemoryBlobs(),
    models,
    tools: [aTool('look', async () => ({ type: 'ok', output: { text: 'a.txt' } }), false)],
    start: { model: name, budgets },
  })
  const { models: listed } = await models.list()
  const price = listed.find((one) => one.model === name)?.price ?? null
  const turn = async (command: Parameters<typeof runtime.handle.submit>[0]) => {
    const { seq: after } = orThrow(await runtime.handle.snapshot())
    orThrow(await runtime.handle.submit(command))
    for await (const frame of runtime.handle.subscribe({ after }))
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') return frame.record.event.reason
    throw new Error('the stream ended first')
  }
  const cost = async () => orThrow(await runtime.handle.snapshot()).meta.usage.cost
  return { runtime, turn, cost, price }
}

describe('a cost budget', () => {
  it('stops at the cost of the calls, and continues after it is raised', async () => {
    const { runtime, turn, cost, price } = await open(model, { maxCost: 0.1 })
    if (price === null) throw new Error(`no price of ${model}`)
    const each = (usage.input_tokens * price.input + usage.output_tokens * price.output) / 1_000_000
    expect(each).toBeGreaterThan(0.05)
    expect(each).toBeLessThan(0.1)

    expect(await turn({ type: 'sendPrompt', content: 'look around' })).toBe('limit')
    expect(server.requests).toHaveLength(2)
    expect(await cost()).toBeCloseTo(2 * each)
    orThrow(await runtime.handle.submit({ type: 'setBudgets', budgets: { maxCost: 1 } }))
    expect(await turn({ type: 'continue' })).toBe('done')
    expect(await cost()).toBeCloseTo(3 * each)
  })

  it('stops no model without a price, and the cost is unknown', async () => {
    const { turn, cost, price } = await open('anthropic/claude-unheard-of', { maxCost: 0.0001 })
    expect(price).toBeNull()
    expect(await turn({ type: 'sendPrompt', content: 'look around' })).toBe('done')
    expect(await cost()).toBeNull()
  })
})
