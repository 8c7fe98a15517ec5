import { type Frame, invariant } from '@holdfast/protocol'
import {
  type AnswerBlock,
  type AnthropicAnswer,
  type AnthropicServer,
  aTool,
  createDice,
  createVirtualClock,
  type Dice,
  openTestRuntime,
  startAnthropicServer,
  type TestRuntime,
  type TestRuntimeOptions,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createModels } from '../../packages/holdfast/src/providers/models.ts'
import { createMemoryBlobs } from '../../packages/holdfast/src/store/blobs/memory-blobs.ts'
import { createMemoryStore } from '../../packages/holdfast/src/store/memory/memory-store.ts'
import { createFastClock } from '../providers/fast-clock.ts'
import { runs, seedsOf } from './runs.ts'

/** Opens a runtime with the real adapter and Anthropic's library, on a server as strict as the service. */
async function liveThrough(seed: number): Promise<AnthropicServer['requests']> {
  const dice = createDice(seed)
  await using server = await startAnthropicServer()
  const open = (more: Partial<TestRuntimeOptions>) =>
    openTestRuntime({
      store: createMemoryStore(),
      blobs: createMemoryBlobs(),
      ...more,
      clock: { ...createVirtualClock(), ...createFastClock() }, // fast, because it waits for an overloaded model
      models: createModels({ environment: { ANTHROPIC_API_KEY: 'sk-test', ANTHROPIC_BASE_URL: server.url } }),
      tools: [
        aTool('look', () => work(dice), false),
        aTool('touch', (_, __, { begin }) => begin().then(() => work(dice))),
      ],
      start: { model: 'anthropic/claude-sonnet-5-5', thinkingLevel: dice.chance(1, 2) ? 'high' : 'off' },
    })
  let runtime = await open({})
  const run: RunState = { dice, cursor: 0, nodes: 1 }

  for (let round = 0; round < 7; round++) {
    server.answer(...Array.from({ length: 3 }, () => answerOf(dice)))
    const isContinued = dice.chance(1, 4)
    await runtime.handle.submit(isContinued ? { type: 'continue' } : { type: 'sendPrompt', content: 'Go on.' })
    for (;;) {
      const came = await followUntilIdle(runtime, run)
      if (came === 'rest') break
      runtime = await open({ store: runtime.store, takesOver: true, node: `node-${++run.nodes}` })
      await answerWaiting(runtime, dice)
    }
  }
  return server.requests
}

type RunState = { readonly dice: Dice; cursor: number; nodes: number }

/** Follows the session until it is idle, with random commands and crashes on the way. */
async function followUntilIdle(runtime: TestRuntime, run: RunState): Promise<'rest' | 'crash'> {
  const { dice } = run
  const snapshot = await runtime.handle.snapshot()
  if (snapshot.ok && snapshot.value.view.activity === 'idle') return 'rest'
  for await (const frame of runtime.handle.subscribe({ after: run.cursor })) {
    if (frame.type === 'record') run.cursor = frame.record.seq
    if (frame.type === 'end') return 'crash'
    if (isRest(frame)) {
      const now = await runtime.handle.snapshot()
      invariant(now.ok, 'a session can be read')
      if (now.value.view.activity === 'idle' || now.value.view.activity === 'error') return 'rest'
    }
    if (frame.type === 'record' && frame.record.event.type === 'approval.asked') await answerWaiting(runtime, dice)
    if (frame.type !== 'delta' && !(frame.type === 'record' && dice.chance(1, 3))) continue
    if (dice.chance(1, 12)) await runtime.handle.submit({ type: 'abort' })
    else if (dice.chance(1, 10)) await runtime.handle.submit({ type: 'sendPrompt', content: 'And mind the gap.' })
    else if (dice.chance(1, 20)) await runtime.handle.submit({ type: dice.chance(1, 2) ? 'enterPlan' : 'enterExec' })
    else if (dice.chance(1, 15)) return 'crash'
  }
  return 'crash'
}

const isRest = (frame: Frame) => frame.type === 'record' && frame.record.event.type === 'turn.ended'

async function answerWaiting(runtime: TestRuntime, dice: Dice): Promise<void> {
  const decision = dice.pick(['approve', 'approve', 'reject'] as const) ?? 'reject'
  for (;;) {
    const answered = await runtime.handle.submit({ type: 'respondToApproval', decision })
    if (!answered.ok) return
  }
}

async function work(dice: Dice) {
  return {
    type: dice.chance(1, 4) ? ('failed' as const) : ('ok' as const),
    output: { text: dice.pick(['fine', '', '\ud800']) ?? '' },
  }
}

function answerOf(dice: Dice): AnthropicAnswer {
  if (dice.chance(1, 12)) return { type: 'error', status: dice.pick([429, 500, 529]) ?? 500, message: 'try later' }
  if (dice.chance(1, 15)) return { type: 'drop' }
  // The service thinks first: no answer ends with thinking unless it has nothing else.
  const content = Array.from({ length: dice.below(4) }, () => blockOf(dice)).toSorted(
    (left, right) => orderOf(left) - orderOf(right),
  )
  const cut = { events: 1 + dice.below(12), detour: { type: dice.pick(['cut', 'stop'] as const) ?? 'cut' } }
  return { type: 'message', content, ...(dice.chance(1, 5) && { after: cut }) }
}

const orderOf = ({ type }: AnswerBlock) => (type.endsWith('thinking') ? 0 : 1)

function blockOf(dice: Dice): AnswerBlock {
  const kind = dice.below(10)
  if (kind < 2) return { type: 'thinking', thinking: 'Let me see.', signature: `sig-${dice.below(1000)}` }
  if (kind < 3) return { type: 'redacted_thinking', data: `hidden-${dice.below(1000)}` }
  if (kind < 6) return { type: 'text', text: dice.pick(['Here it is. ', ' ', 'Well']) ?? '' }
  if (kind < 7)
    return {
      type: 'raw_tool_use',
      name: 'look',
      json: dice.pick(['{"a":', 'null', '[]', `{"a":"${dice.below(1e9)}\\ud800"}`]) ?? '',
    }
  return {
    type: 'tool_use',
    name: dice.pick(['look', 'touch', 'nowhere', 'no such tool']) ?? 'look',
    input: { nonce: dice.below(1e9) },
  }
}

describe('a request to a strict service', () => {
  it.each(seedsOf(runs.histories))('is never refused (SEED=%i)', async (seed) => {
    const requests = await liveThrough(seed)
    expect(requests.length).toBeGreaterThan(0)
    expect(requests.flatMap(({ complaint }) => complaint ?? [])).toEqual([])
  })
})
