import {
  type Cap,
  type ClientId,
  Command,
  CommandId,
  type CommandInput,
  type Frame,
  orThrow,
  type SessionHandle,
} from '@holdfast/protocol'
import {
  aSubagentTool,
  call,
  createGate,
  finish,
  modelsWith,
  type ScriptedAnswer,
  say,
  scriptedUsage,
  type TestRuntime,
  type TestRuntimeOptions,
  waitAt,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { letWaitsPass } from '../../testing/let-waits-pass.ts'
import { createLookingTool } from '../../testing/looking-tool.ts'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import type { LocalSession } from '../api/own-session.ts'

const day = '2026-01-01' // of the virtual clock
const anna = 'tok_000000000000000a'
const used = { ...scriptedUsage, cost: 0.25 }

/** A model that calls a tool three times, then answers; each call costs 0.25. */
async function open(caps: readonly Cap[], options: Partial<TestRuntimeOptions> = {}) {
  const { look, runs } = createLookingTool()
  const store = createMemoryStore()
  for (const cap of caps) orThrow(await store.setCap(cap))
  let calls = 0
  const runtime = await openMemoryRuntime({
    store,
    tools: [look, aSubagentTool()],
    script: (): ScriptedAnswer =>
      ++calls % 4 === 0 ? [say('Done.'), finish('stop', used)] : [call('look', {}), finish('calls', used)],
    ...options,
  })
  return { runtime, store, runs, calls: () => calls }
}

const turnsEnded = (count: number) => {
  let ended = 0
  return (frame: Frame) => frame.type === 'record' && frame.record.event.type === 'turn.ended' && ++ended === count
}

let sent = 0
/** Sends a command as a token, or without one. */
function sendAs({ handle }: Pick<TestRuntime, 'handle'>, token: string | null, command: CommandInput) {
  const submission = {
    commandId: CommandId.parse(`c${++sent}`),
    by: null as ClientId | null,
    command: Command.parse(command),
  }
  // The handle of a test runtime is a local one.
  return (handle as SessionHandle as LocalSession).dispatch({
    ...submission,
    ...(token !== null && { person: `token:${token}` }),
  })
}
const promptAs = (runtime: TestRuntime, token: string | null, content = 'go') =>
  letWaitsPass(runtime, () =>
    sendAs(runtime, token, { type: 'sendPrompt', content: [{ type: 'text', text: content }] }),
  )
const last = async ({ handle }: TestRuntime) => orThrow(await handle.snapshot()).view.lastTurn?.reason
const spentBy = async (runtime: TestRuntime, payer: string, on = day) =>
  (await runtime.store.spentOn(on, { payer, workspace: '/work' })).payer.cost

describe('a cap that is reached in a turn', () => {
  it.each<[string, Cap, Cap]>([
    ['for everything', { maxCost: 0.5 }, { maxCost: 10 }],
    ['for a token', { token: anna, maxCost: 0.5 }, { token: anna, maxCost: 10 }],
    ['for a workspace', { workspace: '/work', maxCost: 0.5 }, { workspace: '/work', maxCost: 10 }],
    ['in tokens', { maxTokens: 220 }, { maxTokens: 10_000 }],
  ])('%s ends it after a closed round, with a notice; when it is raised, the turn goes on', async (_, tight, wide) => {
    const { runtime, store, runs, calls } = await open([tight])
    await promptAs(runtime, anna)
    expect((await runtime.events()).slice(-3)).toEqual(['call.settled', 'note.added', 'turn.ended'])
    expect([await last(runtime), calls(), runs()]).toEqual(['limit', 2, 2])
    const { messages } = orThrow(await runtime.handle.page())
    expect(messages.at(-1)).toMatchObject({
      kind: 'notice',
      code: 'spending_cap',
      text: expect.stringContaining('is reached'),
    })

    for (const command of [{ type: 'continue' }, { type: 'sendPrompt', content: 'more' }] as const)
      expect(await sendAs(runtime, anna, command)).toMatchObject({
        ok: false,
        fault: { code: 'spending_cap', details: { retryAfterSeconds: 86_400 } },
      })
    expect(calls()).toBe(2)

    orThrow(await store.setCap(wide))
    await letWaitsPass(runtime, () => sendAs(runtime, anna, { type: 'continue' }))
    expect([await last(runtime), calls(), runs()]).toEqual(['done', 4, 3])
    expect(await spentBy(runtime, anna)).toBe(1)
  })

  it('opens again on the next day in UTC', async () => {
    const { runtime, calls } = await open([{ maxCost: 0.5 }])
    await promptAs(runtime, anna)
    runtime.clock.advance(86_400_000 - 1)
    expect(await sendAs(runtime, anna, { type: 'continue' })).toMatchObject({ fault: { code: 'spending_cap' } })
    runtime.clock.advance(1)
    await letWaitsPass(runtime, () => sendAs(runtime, anna, { type: 'continue' }))
    expect([await last(runtime), calls()]).toEqual(['done', 4])
    expect([await spentBy(runtime, anna), await spentBy(runtime, anna, '2026-01-02')]).toEqual([0.5, 0.5])
  })

  it('stops only what it is for, and the tightest of several wins', async () => {
    const caps = [{ maxCost: 9 }, { token: anna, maxCost: 0.25 }, { workspace: '/other', maxCost: 0 }]
    const { runtime, calls } = await open(caps)
    await promptAs(runtime, anna)
    expect([await last(runtime), calls()]).toEqual(['limit', 1])
    await promptAs(runtime, null)
    expect(await last(runtime)).toBe('done')
    expect([await spentBy(runtime, anna), await spentBy(runtime, 'local')]).toEqual([0.25, 0.75])
  })

  it('of the program applies beside those of the store', async () => {
    const { runtime, calls } = await open([{ maxCost: 9 }], { caps: [{ token: 'local', maxCost: 0.75 }] })
    await promptAs(runtime, null)
    expect([await last(runtime), calls()]).toEqual(['limit', 3])
  })

  it('leaves queued prompts in the queue, and whoever queued one pays for its turn', async () => {
    const ben = 'tok_000000000000000b'
    const gate = createGate()
    let calls = 0
    const script = (): ScriptedAnswer => {
      const held = ++calls === 1 ? [waitAt(gate)] : []
      return [
        ...held,
        ...(calls % 4 === 0 ? [say('Done.'), finish('stop', used)] : [call('look', {}), finish('calls', used)]),
      ]
    }
    const { runtime, store } = await open([{ maxCost: 0.5 }], { script })
    await sendAs(runtime, anna, { type: 'sendPrompt', content: 'go' })
    for (const content of ['next', 'and then']) await sendAs(runtime, ben, { type: 'queueFollowUp', content })
    await letWaitsPass(runtime, async () => gate.open())
    expect(orThrow(await runtime.handle.snapshot()).view.queue).toHaveLength(2)
    orThrow(await store.setCap({ maxCost: 10 }))
    await sendAs(runtime, anna, { type: 'continue' })
    await runtime.frame(turnsEnded(4))
    expect(orThrow(await runtime.handle.snapshot()).view.queue).toHaveLength(0)
    expect([await spentBy(runtime, anna), await spentBy(runtime, ben)]).toEqual([1, 2])
  })

  it('refuses a compaction and a summary, which also call a model', async () => {
    const { runtime, store, calls } = await open([])
    await promptAs(runtime, anna)
    orThrow(await store.setCap({ token: anna, maxCost: 1 }))
    for (const type of ['compact', 'summarize'] as const)
      expect(await sendAs(runtime, anna, { type })).toMatchObject({ ok: false, fault: { code: 'spending_cap' } })
    expect(calls()).toBe(4)
    expect(await sendAs(runtime, null, { type: 'summarize' })).toMatchObject({ ok: false }) // the model calls a tool instead
    expect(calls()).toBe(5)
  })
})

describe('the caps of the store', () => {
  it('are asked for by a prompt and by each further step, and not again by the first step', async () => {
    const store = createMemoryStore()
    let asked = 0
    const caps = () => {
      asked += 1
      return store.caps()
    }
    const { runtime, calls } = await open([], { store: { ...store, caps } })
    await promptAs(runtime, anna) // the first turn of a session also runs its hooks, so it asks twice
    asked = 0
    await promptAs(runtime, anna)
    expect([calls(), asked]).toEqual([8, 4])
  })
})

describe('a subagent', () => {
  it('counts for the payer of the turn that started it, and stops at the cap of that payer', async () => {
    const script = (request: { readonly messages: readonly unknown[] }): ScriptedAnswer => {
      const isTask = JSON.stringify(request.messages[0]).includes('look around')
      if (isTask) return [call('look', {}), finish('calls', used)]
      return [call('subagent', { task: 'look around' }), finish('calls', used)]
    }
    const { runtime } = await open([{ token: anna, maxCost: 1 }], { script })
    await promptAs(runtime, anna)
    expect(await last(runtime)).toBe('limit')
    expect(await spentBy(runtime, anna)).toBe(1)
    expect(await spentBy(runtime, 'local')).toBe(0)
    const [child] = orThrow(await runtime.handle.subagents())
    expect(child?.status).toBe('over_budget')
  })
})

describe('a model without a known price', () => {
  const unpriced = (options: Partial<TestRuntimeOptions> = {}): Partial<TestRuntimeOptions> => ({
    models: modelsWith(() => ({
      type: 'ready',
      isPriced: false,
      provider: {
        async *stream() {
          yield { type: 'said', part: 0, said: { type: 'text', text: 'Hi.' } }
          yield { type: 'end', end: { type: 'complete', finish: 'stop', usage: { ...scriptedUsage, cost: null } } }
        },
      },
    })),
    ...options,
  })

  it('is refused by a cap in dollars, with the way out', async () => {
    const { runtime } = await open([{ maxCost: 5 }], unpriced())
    expect(await sendAs(runtime, anna, { type: 'sendPrompt', content: 'go' })).toMatchObject({
      ok: false,
      fault: { code: 'price_unknown', message: expect.stringContaining('Set its price in the config') },
    })
    expect(await runtime.events()).toEqual(['session.started'])
  })

  it('counts its tokens, and its cost stays unknown', async () => {
    const { runtime, store } = await open([{ maxCost: 5, maxTokens: 1000 }], unpriced())
    await promptAs(runtime, anna)
    expect(await last(runtime)).toBe('done')
    const { all } = await store.spentOn(day, { payer: anna, workspace: '/work' })
    expect(all).toMatchObject({ calls: 1, unpriced: 1, cost: null })
    expect(all.tokens).toBeGreaterThan(0)
  })
})

describe('what was spent', () => {
  it('is right after a crash before or after the answer is recorded, whoever takes over', async () => {
    const { runtime, store } = await open([])
    await promptAs(runtime, anna)
    const before = await spentBy(runtime, anna)
    const other = await openMemoryRuntime({ store, node: 'two', living: ['two'], takesOver: true })
    orThrow(await other.handle.snapshot())
    expect(await spentBy(other, anna)).toBe(before)
  })
})
