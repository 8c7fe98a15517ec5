import type { Settings } from '@holdfast/protocol'
import { type EventInput, recordsOf, settled, stateAfter, stepEnded, thinking, turnEnded } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, decided, events, livedThrough, stepPrepared } from '../../testing/deciding.ts'
import { evolve } from '../evolve.ts'
import { limitReached } from './budget.ts'

const usage = { input: 10, output: 5, cacheRead: 3, cacheWrite: 2, cost: 0.25 }
const call: EventInput = { type: 'call.requested', turn: 0, step: 4, tool: 'look', args: {}, provider: 'sim' }
/** A round is closed: one step made, 20 tokens used, at a quarter. */
const spent = (budgets: Settings['budgets'], used: typeof usage | { cost: null } = usage) =>
  stateAfter(...[...thinking, call, { ...stepEnded, usage: { ...usage, ...used } } as EventInput, settled(5)], {
    type: 'settings.changed',
    budgets,
  })

describe('a budget', () => {
  it.each([
    ['steps', { maxSteps: 1 }, 'step_limit'],
    ['tokens, cached ones too', { maxTokens: 20 }, 'token_limit'],
    ['cost', { maxCost: 0.25 }, 'cost_limit'],
  ] as const)('of %s ends the turn between two model calls, and says so', (_, budgets, code) => {
    const state = spent(budgets)
    expect(events(state, stepPrepared(state))).toMatchObject([
      { type: 'note.added', kind: 'notice', code },
      { type: 'turn.ended', reason: 'limit' },
    ])
  })

  it.each([{ maxSteps: 2 }, { maxTokens: 21 }, { maxCost: 0.26 }, {}])('of %j is not reached', (budgets) => {
    const state = spent(budgets)
    expect(decided(state, stepPrepared(state))).toBe('context.changed step.started')
  })

  it('of cost counts a call of unknown price as nothing, and goes on counting the others', () => {
    const unpriced = spent({ maxCost: 0.25 }, { cost: null })
    expect(limitReached(unpriced, 1)).toBeNull()
    const [record] = recordsOf([{ ...stepEnded, usage } as EventInput], unpriced.seq + 1)
    expect(record && limitReached(evolve(unpriced, record), 1)).toMatchObject({ code: 'cost_limit' })
  })

  it('counts the estimate of a call whose provider did not say what it used', () => {
    const estimated = (budgets: Settings['budgets'], cost: number | null) => {
      const ended = { ...stepEnded, usage: null, estimate: { ...usage, cost } } as EventInput
      return stateAfter(...thinking, call, ended, settled(5), { type: 'settings.changed', budgets })
    }
    expect(limitReached(estimated({ maxTokens: 20 }, null), 1)).toMatchObject({ code: 'token_limit' })
    expect(limitReached(estimated({ maxCost: 0.25 }, 0.25), 1)).toMatchObject({ code: 'cost_limit' })
    expect(limitReached(estimated({ maxTokens: 21, maxCost: 0.25 }, null), 1)).toBeNull()
  })

  it('of steps restarts when the turn is continued; usage is kept', () => {
    const stepped = spent({ maxSteps: 1 })
    const again = livedThrough(stepped, stepPrepared(stepped), asked({ type: 'continue' }))
    expect(decided(again, stepPrepared(again))).toBe('context.changed step.started')
    const poor = spent({ maxTokens: 20 })
    const still = livedThrough(poor, stepPrepared(poor))
    expect(decided(still, asked({ type: 'continue' }))).toBe('over_budget')
  })
})

describe('a session whose budget is used up', () => {
  const rested = (budgets: Settings['budgets']) =>
    stateAfter(...thinking, { ...stepEnded, usage } as EventInput, turnEnded('limit'), {
      type: 'settings.changed',
      budgets,
    })

  it.each([{ maxTokens: 20 }, { maxCost: 0.25 }])(
    'of %j begins no turn, and takes one up once it is raised',
    (budgets) => {
      for (const type of ['continue', 'sendPrompt'] as const) {
        const command = type === 'continue' ? asked({ type }) : asked({ type, content: 'go' })
        expect(decided(rested(budgets), command)).toBe('over_budget')
        expect(decided(rested({}), command)).toMatch(/^turn.started/)
      }
    },
  )

  it('still queues prompts for its running turn', () => {
    const running = stateAfter(...thinking, { type: 'settings.changed', budgets: { maxTokens: 1 } })
    expect(decided(running, asked({ type: 'sendPrompt', content: 'go' }))).toBe('prompt.queued')
  })
})
