import type { Append, Problem } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'
import { createFaultyStore, openTestRuntime } from '@holdfast/testkit'
import { describe, expect, it, vi } from 'vitest'
import { createMemoryBlobs } from '../store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../store/memory/memory-store.ts'
import { createConversationPool } from './conversation-pool.ts'
import { createConversations } from './conversations.ts'

async function openFailing() {
  const appends: Append[] = []
  let lookups = 0
  const inner = createMemoryStore()
  const store = createFaultyStore({
    ...inner,
    append: async (append) => {
      appends.push(append)
      return inner.append(append)
    },
    find: async (name) => {
      lookups++
      return inner.find(name)
    },
  })
  const { registry } = await openTestRuntime({ store, blobs: createMemoryBlobs(), start: { key: 'other' } })
  const problems: Problem[] = []
  const watched = { ...registry, deps: { ...registry.deps, onProblem: (problem: Problem) => problems.push(problem) } }
  const conversations = createConversations(createConversationPool(watched))
  return { store, registry, appends, problems, lookups: () => lookups, conversations }
}

describe('conversations on a failing store', () => {
  it('queue messages, show them, report the failure once, and write them when the store recovers', async () => {
    const { store, conversations, problems } = await openFailing()
    conversations.addMessage('one', 'user', 'before')
    await conversations.save('one')
    store.breakDown()
    conversations.addMessage('one', 'user', 'full')
    conversations.setSummary('one', 'waits')
    await expect(conversations.save('one')).rejects.toMatchObject({ code: 'storage_error' })
    expect(problems).not.toEqual([])
    expect((await conversations.getHistory('one')).map(({ content }) => content)).toEqual(['before', 'full'])
    expect(await conversations.getSummary('one')).toBe('waits')
    store.heal()
    conversations.addMessage('one', 'user', 'after')
    await conversations.save('one').catch(() => undefined) // of the looks while it was full
    await conversations.save('one')
    expect((await conversations.getHistory('one')).map(({ content }) => content)).toEqual(['before', 'full', 'after'])
    expect(await conversations.getSummary('one')).toBe('waits')
  })

  it('write a batch once even if its answer was lost', async () => {
    const { store, conversations } = await openFailing()
    conversations.addMessage('one', 'user', 'first')
    await conversations.save('one')
    store.failAppend(1)
    conversations.addMessage('one', 'user', 'second')
    await expect(conversations.save('one')).rejects.toMatchObject({ code: 'storage_error' })
    await conversations.save('one')
    await conversations.save('one')
    expect((await conversations.getHistory('one')).map(({ content }) => content)).toEqual(['first', 'second'])
  })

  it('limit the size of the queue, including calls, and report what they drop', async () => {
    const { store, conversations, problems, appends } = await openFailing()
    conversations.addMessage('one', 'user', 'before')
    await conversations.save('one')
    store.breakDown()
    conversations.addMessage('one', 'user', 'full')
    await expect(conversations.save('one')).rejects.toMatchObject({ code: 'storage_error' })
    const toolCalls = [{ id: 'a', tool: 'look', args: { at: 'x'.repeat(1_000_000) } }]
    for (let n = 0; n < 100; n++) conversations.addFullMessage('one', { role: 'assistant', content: '', toolCalls })
    const kept = (await conversations.getHistory('one')).length
    expect(kept).toBeGreaterThan(30)
    expect(kept).toBeLessThan(36)
    const dropped = problems.filter(({ cause }) => JSON.stringify(cause).includes('too_large'))
    expect(dropped).toHaveLength(102 - kept)
    await conversations.save('one').catch(() => undefined) // rejects for the dropped messages
    store.heal()
    const written = appends.length
    conversations.addFullMessage('one', { role: 'assistant', content: '', toolCalls }) // dropped, but the store is tried
    await vi.waitFor(() => expect(appends.length).toBeGreaterThan(written), { timeout: 10_000 })
    await conversations.save('one').catch(() => undefined)
    conversations.addMessage('one', 'user', 'after')
    await conversations.save('one')
    expect((await conversations.getHistory('one')).at(-1)?.content).toBe('after')
  })

  it('limit the length of the queue', async () => {
    const { store, conversations } = await openFailing()
    store.breakDown()
    conversations.addMessage('one', 'user', '0')
    await expect(conversations.save('one')).rejects.toMatchObject({ code: 'storage_error' })
    for (let n = 1; n <= 20_000; n++) conversations.addMessage('one', 'user', `${n}`)
    expect(await conversations.getHistory('one')).toHaveLength(20_000)
  })
})

describe('conversations on a working store', () => {
  it('drop nothing, however much is added at once', async () => {
    const { conversations, problems } = await openFailing()
    const count = 25_000
    for (let n = 0; n < count; n++) conversations.addMessage('one', 'user', `${n}`)
    await conversations.save('one')
    expect(problems).toEqual([])
    expect((await conversations.getHistory('one')).map(({ content }) => Number(content))).toEqual(
      Array.from({ length: count }, (_, index) => index),
    )
  })

  it('accept a long history', async () => {
    const { conversations } = await openFailing()
    const long = { role: 'user' as const, content: 'x'.repeat(1_000_000) }
    conversations.setHistory(
      'one',
      Array.from({ length: 40 }, () => long),
    )
    await conversations.save('one')
    expect(await conversations.getHistory('one')).toHaveLength(40)
  })

  it('look up a key once while its session is loaded', async () => {
    const { conversations, lookups, registry } = await openFailing()
    for (let n = 0; n < 10; n++) {
      conversations.addMessage('one', 'user', `${n}`)
      await conversations.save('one')
    }
    expect(lookups()).toBe(1)
    for (const { id } of registry.all()) await registry.unload(id)
    expect(await conversations.getHistory('one')).toHaveLength(10)
    expect(lookups()).toBe(2)
  })
})

describe('a thousand messages', () => {
  it('need a few writes, not a thousand', async () => {
    const { conversations, appends } = await openFailing()
    for (let n = 0; n < 1000; n++) conversations.addMessage('one', n % 2 === 0 ? 'user' : 'assistant', `message ${n}`)
    await conversations.save('one')
    expect(appends.length).toBeLessThan(5)
    expect(await conversations.getHistory('one')).toHaveLength(1000)
  })

  it('can exceed the limit of one command', async () => {
    const { conversations } = await openFailing()
    const count = limits.seedMessagesMax + 500
    for (let n = 0; n < count; n++) conversations.addMessage('one', 'user', `${n}`)
    await conversations.save('one')
    conversations.truncateHistory('one', count - 1)
    expect((await conversations.getHistory('one')).map(({ content }) => Number(content))).toEqual(
      Array.from({ length: count - 1 }, (_, index) => index + 1),
    )
  })
})
