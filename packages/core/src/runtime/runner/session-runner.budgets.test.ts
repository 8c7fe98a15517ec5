import { type Budgets, orThrow, type Usage } from '@holdfast/protocol'
import { call, finish, finishUncounted, overload, say, scriptedUsage, type TestRuntime } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { letWaitsPass } from '../../testing/let-waits-pass.ts'
import { createLookingTool } from '../../testing/looking-tool.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'

/** A model that calls a tool three times; each answer has the same usage. */
async function open(budgets: Budgets, usage: Partial<Usage> = {}, isOverloaded = false) {
  const { look, runs } = createLookingTool()
  const used: Usage = { ...scriptedUsage, ...usage }
  let calls = 0
  const runtime = await openMemoryRuntime({
    tools: [look],
    start: { budgets },
    script: (_, index) => {
      if (isOverloaded && index % 2 === 0) return [overload(10)]
      return ++calls <= 3 ? [call('look', {}), finish('calls', used)] : [say('Done.'), finish('stop', used)]
    },
  })
  return { runtime, runs, calls: () => calls }
}

const go = (runtime: TestRuntime) =>
  letWaitsPass(runtime, () => runtime.send('go', { type: 'sendPrompt', content: 'go' }))
const on = (runtime: TestRuntime, id = 'on') => letWaitsPass(runtime, () => runtime.send(id, { type: 'continue' }))
const raise = (runtime: TestRuntime, budgets: Budgets) => runtime.send('raise', { type: 'setBudgets', budgets })
const now = async ({ handle }: TestRuntime) => {
  const { view, meta } = orThrow(await handle.snapshot())
  return { last: view.lastTurn?.reason, cost: meta.usage.cost }
}

describe('a budget that is used up in a turn', () => {
  it.each<[string, Budgets, Budgets]>([
    ['of steps', { maxSteps: 2 }, { maxSteps: 100 }],
    ['of tokens', { maxTokens: 220 }, { maxTokens: 10_000 }],
    ['of money', { maxCost: 0.5 }, { maxCost: 10 }],
  ])('%s ends it after a closed round; with a higher budget it can be continued', async (_, tight, wide) => {
    const { runtime, runs, calls } = await open(tight, { cost: 0.25 })
    await go(runtime)
    expect((await runtime.events()).slice(-3)).toEqual(['call.settled', 'note.added', 'turn.ended'])
    expect(await now(runtime)).toMatchObject({ last: 'limit', cost: 0.5 })
    expect([calls(), runs()]).toEqual([2, 2])

    expect(await raise(runtime, wide)).toMatchObject({ ok: true })
    await on(runtime)
    expect(await now(runtime)).toMatchObject({ last: 'done', cost: 1 })
    expect([calls(), runs()]).toEqual([4, 3])
  })

  it('refuses a prompt until the budget is raised, and names the budget', async () => {
    const { runtime, calls } = await open({ maxCost: 0.5 }, { cost: 0.25 })
    await go(runtime)
    expect(await runtime.send('on', { type: 'continue' })).toMatchObject({
      ok: false,
      fault: { code: 'over_budget', details: { limit: 'cost_limit' } },
    })
    expect(calls()).toBe(2)
  })
})

describe('the usage that counts against a budget', () => {
  it('does not include a failed call that was retried', async () => {
    const { runtime, calls } = await open({ maxCost: 1, maxTokens: 440, maxSteps: 4 }, { cost: 0.25 }, true)
    await go(runtime)
    expect(runtime.model.requests).toHaveLength(8)
    expect(calls()).toBe(4)
    expect(await now(runtime)).toEqual({ last: 'done', cost: 1 })
  })

  it.each<[string, Budgets]>([
    ['tokens', { maxTokens: 220 }],
    ['money', { maxCost: 0.5 }],
  ])('is estimated, in %s, when the service reports none; the cost is unknown', async (_, budgets) => {
    const { look, runs } = createLookingTool()
    const used = { ...scriptedUsage, cost: 0.25 }
    const script = () => [call('look', {}), finishUncounted('calls', used)]
    const runtime = await openMemoryRuntime({ tools: [look], start: { budgets }, script })
    await go(runtime)
    expect(runs()).toBe(2)
    expect(await now(runtime)).toEqual({ last: 'limit', cost: null })
  })

  it('leaves the cost unknown, not zero, when the price is unknown', async () => {
    const { runtime } = await open({ maxCost: 0.01 }, { cost: null })
    await go(runtime)
    expect(await now(runtime)).toEqual({ last: 'done', cost: null })
  })
})

describe('follow-ups of a turn that reached a limit', () => {
  it('wait until the turn is continued and ends', async () => {
    const { runtime } = await open({ maxSteps: 2 })
    const queue = async () => orThrow(await runtime.handle.snapshot()).view.queue.length
    await letWaitsPass(runtime, async () => {
      await runtime.send('go', { type: 'sendPrompt', content: 'go' })
      await runtime.send('then', { type: 'queueFollowUp', content: 'and then' })
    })
    expect(await now(runtime)).toMatchObject({ last: 'limit' })
    expect(await queue()).toBe(1)
    await on(runtime)
    expect(await queue()).toBe(0)
  })
})
