import { invariant, limits, noWorkdir, type Settings } from '@holdfast/protocol'
import {
  aHash,
  callOf,
  type EventInput,
  queued,
  recordsOf,
  requested,
  settled,
  stateAfter,
  stepEnded,
  thinking,
  turnEnded,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, decided, events, livedThrough, modelReplied, phases, stepPrepared } from '../../testing/deciding.ts'
import type { SessionCommandInput } from '../../testing/each-command.ts'
import { evolve } from '../evolve.ts'
import type { SessionState } from '../state.ts'
import { answerOf } from '../view.ts'
import { limitReached } from './prompt.ts'

const text = (words: string) => [{ type: 'text' as const, text: words }]
const image = { type: 'file' as const, blob: aHash, mediaType: 'image/png', bytes: 3 }
const steer = (content: string): SessionCommandInput => ({ type: 'queueSteering', content })
const follow = (content: string): SessionCommandInput => ({ type: 'queueFollowUp', content })
const waiting = ({ queue }: SessionState) => queue.map(({ id }) => id)
/** Returns the answer to a command, derived from its first record. */
const answered = (state: SessionState, command: SessionCommandInput) => {
  const [event] = events(state, asked(command))
  return event && answerOf({ seq: state.seq + 1, at: '', v: 1, event }).result
}

describe('a prompt in a turn', () => {
  it('waits in the queue it was sent to, and the answer names the queue', () => {
    expect(answered(phases.thinking, { type: 'sendPrompt', content: 'a' })).toEqual({ queued: 'steering' })
    expect(answered(phases.thinking, steer('a'))).toEqual({ queued: 'steering' })
    expect(answered(phases.thinking, follow('a'))).toEqual({ queued: 'follow_up' })
  })

  it('keeps its pictures while it waits', () => {
    const state = livedThrough(phases.thinking, asked({ type: 'queueFollowUp', content: [...text('see'), image] }))
    expect(events(state, modelReplied(state)).at(-1)).toMatchObject({ type: 'user.said', content: [{}, image] })
  })

  it('is refused when both queues together are full', () => {
    const half = Array.from({ length: limits.promptsQueuedMax / 2 }, () => [queued('steering'), queued('follow_up')])
    const full = stateAfter(...thinking, ...half.flat())
    expect(decided(full, asked(steer('more')))).toBe('queue_full')
    expect(decided(full, asked(follow('more')))).toBe('queue_full')
    expect(decided(livedThrough(full, asked({ type: 'dequeueSteering' })), asked(steer('more')))).toBe('prompt.queued')
  })

  it('is refused when the texts of both queues together are too long, also by an edit', () => {
    const long = 'x'.repeat(limits.promptsQueuedCharsMax / 4)
    const state = stateAfter(...thinking, ...Array.from({ length: 4 }, () => queued('follow_up', long)))
    expect(decided(state, asked(steer('x')))).toBe('queue_full')
    const [first] = state.queue
    invariant(first, 'a prompt waits')
    const edit = (content: string) => asked({ type: 'editQueueEntry', entry: first.id, content: text(content) })
    expect(decided(state, edit(`${long}x`))).toBe('queue_full')
    expect(decided(state, edit(long))).toBe('queue.edited')
    expect(decided(livedThrough(state, edit('short')), asked(steer('x')))).toBe('prompt.queued')
  })
})

describe('steering', () => {
  const two = [queued('steering', 'a'), queued('follow_up', 'f'), queued('steering', 'b')]

  it('is added between rounds, in order, one message each', () => {
    const closed = stateAfter(...requested, ...two, settled(5))
    expect(events(closed, stepPrepared(closed))).toMatchObject([
      { type: 'user.said', content: text('a'), entry: 7 },
      { type: 'user.said', content: text('b'), entry: 9 },
      { type: 'context.changed' },
      { type: 'step.started' },
    ])
  })

  it('does not enter while a call of the round is open', () => {
    const open = stateAfter(...thinking, callOf('shell'), callOf('shell'), stepEnded, ...two, settled(5))
    expect(decided(open, stepPrepared(open))).toBe('')
  })

  it('continues a turn whose model answered without calls', () => {
    const steered = stateAfter(...thinking, ...two)
    expect(decided(steered, modelReplied(steered))).toBe('text.said step.ended')
    const next = livedThrough(steered, modelReplied(steered))
    expect(decided(next, stepPrepared(next))).toBe('user.said user.said context.changed step.started')
  })

  it('that is removed after such an answer no longer continues the turn', () => {
    const steered = stateAfter(...thinking, queued('steering'))
    const alone = livedThrough(steered, modelReplied(steered), asked({ type: 'dequeueSteering' }))
    expect(decided(alone, stepPrepared(alone))).toBe('turn.ended')
    const followed = livedThrough(alone, asked(follow('next')))
    expect(decided(followed, stepPrepared(followed))).toBe('turn.ended turn.started user.said')
  })

  it.each(['aborted', 'failed', 'interrupted', 'limit'] as const)('waits after a turn that was %s', (reason) => {
    const cut = stateAfter(...thinking, ...two, turnEnded(reason))
    expect(waiting(cut)).toEqual([5, 6, 7])
    const next = livedThrough(cut, asked({ type: 'sendPrompt', content: 'now this' }))
    expect(events(next, stepPrepared(next)).map((event) => ('entry' in event ? event.entry : event.type))).toEqual([
      ...[5, 7],
      ...['context.changed', 'step.started'],
    ])
  })
})

describe('a follow-up', () => {
  const three = [queued('follow_up', 'a'), queued('follow_up', 'b'), queued('follow_up', 'c')]

  it('becomes the next turn, one each, in order', () => {
    let state = stateAfter(...thinking, ...three)
    const contents: unknown[] = []
    while (state.turn.phase !== 'idle') {
      if (state.turn.phase === 'preparing') state = livedThrough(state, stepPrepared(state))
      const made = events(state, modelReplied(state))
      contents.push(...made.flatMap((event) => (event.type === 'user.said' ? [[event.turn, event.entry]] : [])))
      state = livedThrough(state, modelReplied(state))
    }
    expect(contents).toEqual([
      [1, 5],
      [2, 6],
      [3, 7],
    ])
    expect(state).toMatchObject({ queue: [], turns: 4, turn: { last: { number: 3, reason: 'done' } } })
  })

  it.each(['aborted', 'failed', 'interrupted', 'limit'] as const)('waits after a turn that was %s', (reason) => {
    const cut = stateAfter(...thinking, ...three, turnEnded(reason))
    expect(waiting(cut)).toEqual([5, 6, 7])
    const again = livedThrough(cut, asked({ type: 'continue' }))
    const thinks = livedThrough(again, stepPrepared(again))
    expect(waiting(thinks)).toEqual([5, 6, 7])
    expect(events(thinks, modelReplied(thinks)).at(-1)).toMatchObject({ type: 'user.said', turn: 1, entry: 5 })
  })

  it('waits when its turn fails, is aborted or is interrupted by a crash', () => {
    const state = stateAfter(...thinking, ...three)
    expect(decided(state, asked({ type: 'abort' }))).toBe('step.ended turn.ended')
    expect(decided(state, { type: 'process.restarted', draft: null })).toBe('step.ended turn.ended')
  })

  it('in an idle session is a prompt, and does not overtake waiting ones', () => {
    const cut = stateAfter(...thinking, ...three, turnEnded('aborted'))
    expect(events(cut, asked(follow('now')))).toMatchObject([{ type: 'turn.started' }, { content: text('now') }])
  })
})

describe('an entry', () => {
  const held = stateAfter(...thinking, queued('steering', 'a'), queued('follow_up', 'f'), queued('steering', 'b'))

  it('is sent as last edited', () => {
    const edited = livedThrough(
      held,
      asked({ type: 'editQueueEntry', entry: 5, content: 'better' }),
      modelReplied(held),
    )
    expect(events(edited, stepPrepared(edited))[0]).toMatchObject({ content: text('better'), entry: 5 })
  })

  it('is sent in its new order, and the other queue keeps its order', () => {
    const turned = livedThrough(held, asked({ type: 'reorderQueue', queue: 'steering', entries: [7, 5] }))
    expect(waiting(turned)).toEqual([7, 6, 5])
  })

  it('leaves the queue once, when it is sent or removed', () => {
    const taken = livedThrough(held, asked({ type: 'removeQueueEntry', entry: 5 }))
    expect(waiting(taken)).toEqual([6, 7])
    const entered = livedThrough(taken, modelReplied(taken))
    const sent = livedThrough(entered, stepPrepared(entered))
    expect(waiting(sent)).toEqual([6])
    for (const entry of [5, 7]) {
      expect(decided(sent, asked({ type: 'removeQueueEntry', entry }))).toBe('queue_entry_not_found')
      expect(decided(sent, asked({ type: 'editQueueEntry', entry, content: 'x' }))).toBe('queue_entry_not_found')
    }
  })
})

describe('a recalled queue', () => {
  const given: readonly EventInput[] = [queued('steering', 'a'), queued('follow_up', 'f')]
  const held = stateAfter(...thinking, ...given)
  const entry = (id: number, queue: string, words: string) => ({ id, queue, content: text(words) })

  it('is returned from the record alone, so that a retry gets it again', () => {
    const both = [entry(5, 'steering', 'a'), entry(6, 'follow_up', 'f')]
    expect(answered(held, { type: 'recallQueues' })).toEqual({ entries: both })
    expect(answered(held, { type: 'dequeueSteering' })).toEqual({ entries: both.slice(0, 1) })
    expect(answered(held, { type: 'removeQueueEntry', entry: 6 })).toEqual({ entries: both.slice(1) })
  })

  it('is not returned by clearQueues', () => {
    expect(answered(held, { type: 'clearQueues' })).toEqual({})
    expect(waiting(livedThrough(held, asked({ type: 'clearQueues' })))).toEqual([])
  })

  it('is empty without waiting prompts, and leaves no record', () => {
    expect(decided(phases.thinking, asked({ type: 'recallQueues' }))).toBe('')
  })
})

const usage = { input: 10, output: 5, cacheRead: 3, cacheWrite: 2, cost: 0.25 }
const call: EventInput = { type: 'call.requested', turn: 0, step: 4, tool: 'look', args: {}, provider: 'sim' }
/** A closed round: one step, 20 tokens, 0.25 dollars. */
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
  ] as const)('of %s ends the turn between two model calls, with the reason', (_, budgets, code) => {
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

  it('of cost counts a call of unknown price as zero, and counts the others', () => {
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

  it.each([{ maxTokens: 20 }, { maxCost: 0.25 }])('of %j starts no turn until the budget is raised', (budgets) => {
    for (const type of ['continue', 'sendPrompt'] as const) {
      const command = type === 'continue' ? asked({ type }) : asked({ type, content: 'go' })
      expect(decided(rested(budgets), command)).toBe('over_budget')
      expect(decided(rested({}), command)).toMatch(/^turn.started/)
    }
  })

  it('still queues prompts for its running turn', () => {
    const running = stateAfter(...thinking, { type: 'settings.changed', budgets: { maxTokens: 1 } })
    expect(decided(running, asked({ type: 'sendPrompt', content: 'go' }))).toBe('prompt.queued')
  })
})

describe('a session without a workdir', () => {
  const idle: SessionState = phases.idle
  const homeless: SessionState = { ...idle, origin: idle.origin && { ...idle.origin, workdir: noWorkdir } }

  it('starts no turn, and takes a prompt once it was moved to a folder', () => {
    const prompt = asked({ type: 'sendPrompt', content: 'go on' })
    expect(decided(homeless, prompt)).toBe('workdir_needed')
    expect(events(homeless, asked({ type: 'moveWorkdir', workdir: '/work' }))).toEqual([
      { type: 'settings.changed', workdir: '/work' },
    ])
    expect(decided(idle, prompt)).not.toBe('workdir_needed')
  })
})
