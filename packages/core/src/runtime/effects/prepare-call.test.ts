import { fault, HoldfastError, limits, orThrow } from '@holdfast/protocol'
import { aTool, call, fakePermissions, isRecord, say } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Blobs } from '../../ports/store/blobs.ts'
import type { Store } from '../../ports/store/store.ts'
import type { Prepared, Tool } from '../../ports/tool.ts'
import { stillness } from '../../testing/let-waits-pass.ts'
import { createMemoryBlobs, createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'

const prompt = { type: 'sendPrompt', content: 'go' } as const

/** A tool that must not run. */
const preparing = (prepare: Tool['prepare']): Tool => ({
  ...aTool('touch', () => Promise.reject(new Error('it must not run'))),
  prepare,
})

describe('a call that is being prepared', () => {
  it('is aborted with its turn', async () => {
    const prepared = Promise.withResolvers<AbortSignal>()
    const tool = preparing((_args, _place, signal) => {
      prepared.resolve(signal)
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const runtime = await openMemoryRuntime({ script: [[call('touch', {})]], tools: [tool] })
    await runtime.send('a', prompt)
    const signal = await prepared.promise
    expect(signal.aborted).toBe(false)
    await runtime.send('b', { type: 'abort' })
    await runtime.frame(isRecord('turn.ended'))
    expect(signal.aborted).toBe(true)
  })
})

describe('a call that its tool wants asked each time', () => {
  it('is asked with the reason, though its tool is trusted, and the reason is shown live and after a reload', async () => {
    const touch = preparing(async (args) => ({
      type: 'ready',
      args,
      preview: { type: 'arguments', args },
      alwaysAsk: 'it writes into \u202e.git',
    }))
    const runtime = await openMemoryRuntime({ script: [[call('touch', {})]], tools: [touch] })
    await runtime.send('a', { type: 'setToolTrust', tool: 'touch', scope: 'session' })
    const live = runtime.frame(isRecord('approval.asked'))
    await runtime.send('b', prompt)
    const reason = 'it writes into \\u{202e}.git'
    expect(await live).toMatchObject({ record: { event: { reason } } })
    expect(orThrow(await runtime.handle.snapshot()).view.pendingApprovals).toMatchObject([{ reason }])
  })
})

describe('a call while the store does not answer', () => {
  const away = fault('storage_error', 'The store does not answer.', { reason: 'unreachable' })
  const unknown = { verdict: 'unknown', reason: 'your rules cannot be read', away } as const

  it.each([
    ['the rules', (isAway: () => boolean) => ({ judge: async () => (isAway() ? unknown : null) })],
    [
      'the trust in its workspace',
      (isAway: () => boolean, store: Store) => ({
        workspaceTrust: (workdir: string) =>
          isAway() ? Promise.reject(new HoldfastError(away)) : store.workspaceTrust(workdir),
      }),
    ],
  ])('waits until %s can be read, runs, and asks nobody', async (_, parts) => {
    let isAway = true
    const inner = createMemoryStore()
    const lost = parts(() => isAway, inner)
    const tool = aTool('touch', async () => ({ type: 'ok', output: { text: 'done' } }))
    const runtime = await openMemoryRuntime({
      store: { ...inner, ...lost },
      permissions: { ...fakePermissions, ...lost },
      start: { approvals: 'none' },
      script: [[call('touch', {})], [say('Done.')]],
      tools: [tool],
    })
    const shown = runtime.frame((frame) => frame.type === 'storage' && frame.error !== null)
    await runtime.send('a', prompt)
    expect(await shown).toMatchObject({ error: { reason: 'unreachable' } })
    isAway = false
    await stillness()
    runtime.clock.advance(500)
    await runtime.frame(isRecord('turn.ended'))
    expect((await runtime.events()).filter((type) => /^(call|approval)\./.test(type))).toEqual([
      ...['call.requested', 'call.approved', 'call.settled'],
    ])
    expect(orThrow(await runtime.handle.snapshot()).view).toMatchObject({ pendingApprovals: [] })
  })
})

describe('the calls of a round', () => {
  it('are asked, listed and answered in call order, however long each takes to prepare', async () => {
    const slow = Promise.withResolvers<void>()
    const touch = preparing(async (args) => {
      if (args['slow']) await slow.promise
      return { type: 'ready', args, preview: { type: 'arguments', args } }
    })
    const look = aTool('look', async () => ({ type: 'ok', output: { text: 'a ship' } }), false)
    const round = [call('touch', { slow: true }), call('touch', {}), call('look', {})]
    const runtime = await openMemoryRuntime({ script: [round], tools: [touch, look] })
    const looked = runtime.frame(isRecord('call.settled'))
    await runtime.send('a', prompt)
    await looked // a call that needs no approval is not held up
    expect((await runtime.events()).filter((type) => type === 'approval.asked')).toEqual([])
    slow.resolve()
    let asked = 0
    await runtime.frame((frame) => isRecord('approval.asked')(frame) && ++asked === 2)
    const { pendingApprovals, activeToolCalls } = orThrow(await runtime.handle.snapshot()).view
    expect(pendingApprovals.map((one) => one.call)).toEqual(activeToolCalls.map(({ id }) => id))
    expect(pendingApprovals.map(({ id }) => id)).toEqual(pendingApprovals.map(({ id }) => id).toSorted())
    await runtime.send('b', { type: 'respondToApproval', decision: 'reject' })
    const { pendingApprovals: left } = orThrow(await runtime.handle.snapshot()).view
    expect(left.map((one) => one.call)).toEqual([activeToolCalls[1]?.id])
  })
})

describe('calls with large arguments', () => {
  it('are each prepared in a slice of their own', async () => {
    let slice = 0
    let isOver = false
    const count = () => {
      slice++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const slices: number[] = []
    const tool = preparing(async (args) => {
      slices.push(slice)
      return { type: 'ready', args, preview: { type: 'arguments', args } }
    })
    const calls = Array.from({ length: 8 }, (_, each) => call('touch', { each, text: 'x'.repeat(10_000) }))
    const runtime = await openMemoryRuntime({ script: [calls], tools: [tool] })
    await runtime.send('a', prompt)
    await runtime.frame(() => slices.length === 8)
    isOver = true
    expect(new Set(slices).size).toBe(8)
  })
})

describe('a long preview', () => {
  const diff = `--- a\n${'-\n'.repeat(1_000_000)}+end\n`
  const given: readonly [string, Omit<Extract<Prepared, { type: 'ready' }>, 'args'>][] = [
    ['by the runtime', { type: 'ready', preview: { type: 'diff', path: 'f', diff } }],
    [
      'by the tool',
      { type: 'ready', preview: { type: 'diff', path: 'f', diff: '--- a\n+end\n' }, whole: Buffer.from(diff) },
    ],
  ]
  it.each(given)('cut %s is a bounded record, and its whole text is a blob of the session', async (_, ready) => {
    const tool = preparing(async (args) => ({ ...ready, args }))
    const runtime = await openMemoryRuntime({ script: [[call('touch', {})]], tools: [tool] })
    await runtime.send('a', prompt)
    await runtime.frame(isRecord('approval.asked'))
    const snapshot = orThrow(await runtime.handle.snapshot())
    expect(JSON.stringify(snapshot).length).toBeLessThan(4 * limits.previewBytesMax)
    const [approval] = snapshot.view.pendingApprovals
    expect(approval?.preview).toMatchObject({ type: 'diff', diff: expect.stringContaining('+end\n') })
    const hash = approval?.preview.blob?.hash
    expect(hash).toBeDefined()
    if (hash === undefined) return
    const bytes = await Array.fromAsync(orThrow(await runtime.handle.blob(hash)))
    expect(Buffer.concat(bytes).toString()).toBe(diff)
  })

  it('of a call that nobody is asked about is not stored', async () => {
    const tool: Tool = {
      ...aTool(
        'look',
        async (_args, _place, { begin }) => begin().then(() => ({ type: 'ok', output: { text: 'seen' } })),
        false,
      ),
      prepare: async (args) => ({ type: 'ready', args, preview: { type: 'diff', path: 'f', diff } }),
    }
    const inner = createMemoryBlobs()
    let stored = 0
    const put: Blobs['put'] = (bytes) => {
      stored++
      return inner.put(bytes)
    }
    const runtime = await openMemoryRuntime({
      blobs: { ...inner, put },
      script: [[call('look', {})], [say('Done.')]],
      tools: [tool],
    })
    await runtime.send('a', prompt)
    await runtime.frame(isRecord('turn.ended'))
    expect(stored).toBe(2) // the system text and the tool schemas
  })
})
