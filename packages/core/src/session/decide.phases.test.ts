import { commandTypes, type FaultCode, resultFields } from '@holdfast/protocol'
import { aHash, type EventInput, queued, stateAfter, thinking, turnEnded } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, decided, events, phases } from '../testing/deciding.ts'
import { eachCommand, type SessionCommandInput } from '../testing/each-command.ts'
import { processRequests } from './input.ts'
import type { SessionState } from './state.ts'
import { answerOf } from './view.ts'

const fallenBack: EventInput = {
  type: 'step.ended',
  turn: 0,
  step: 4,
  finish: 'failed',
  usage: null,
  fallback: 'other/model',
}

/** The states of a session in which each command is tried. */
const states = {
  unborn: phases.unborn,
  idle: phases.idle,
  plan: stateAfter({ type: 'settings.changed', mode: 'plan' }),
  error: phases.failed,
  thinking: phases.thinking,
  running: phases.started,
  waiting: phases.asked,
  /** Its model could not answer, and a fallback is about to. */
  fallback: stateAfter(...thinking, fallenBack),
} as const satisfies Readonly<Record<string, SessionState>>
type Phase = keyof typeof states

/** The types of the recorded events, or the fault code; `-` when the command changes nothing. */
type Row = Readonly<Record<Exclude<Phase, 'unborn'>, string>>

const always = (outcome: string): Row => ({
  idle: outcome,
  plan: outcome,
  error: outcome,
  thinking: outcome,
  running: outcome,
  waiting: outcome,
  fallback: outcome,
})
/** Refused while a turn runs: only an idle session can change its history. */
const atRest = (outcome: string): Row => ({ ...always('turn_running'), idle: outcome, plan: outcome, error: outcome })
const unborn: FaultCode = 'session_not_found'
const prompt: Row = {
  ...always('prompt.queued'),
  idle: 'turn.started user.said',
  plan: 'turn.started user.said',
  error: 'turn.started user.said',
}
const cut = 'call.settled turn.ended'

const table: Readonly<Record<SessionCommandInput['type'], Row>> = {
  sendPrompt: prompt,
  queueSteering: prompt,
  queueFollowUp: prompt,
  // The queues are empty here; the next table has waiting prompts.
  recallQueues: always('-'),
  clearQueues: always('-'),
  dequeueSteering: always('-'),
  editQueueEntry: always('queue_entry_not_found'),
  removeQueueEntry: always('queue_entry_not_found'),
  reorderQueue: always('queue_entry_not_found'),
  respondToApproval: { ...always('no_pending_approval'), waiting: 'call.approved' },
  setToolTrust: { ...always('trust.granted'), waiting: 'trust.granted call.approved' },
  revokeToolTrust: always('trust.revoked'),
  abort: { ...always('-'), thinking: 'step.ended turn.ended', running: cut, waiting: cut, fallback: 'turn.ended' },
  continue: {
    ...always('turn_running'),
    idle: 'nothing_to_continue',
    plan: 'nothing_to_continue',
    error: 'turn.started',
  },
  enterPlan: { ...always('settings.changed'), plan: '-', waiting: 'settings.changed call.settled' },
  enterExec: { ...always('-'), plan: 'settings.changed' },
  setModel: always('settings.changed'),
  // There is no rotation here; resolve.models.test.ts has one.
  cycleModel: always('no_rotation'),
  setThinkingLevel: always('settings.changed'),
  cycleThinkingLevel: always('settings.changed'),
  branchAt: atRest('turn_not_found'),
  rewind: atRest('turn_not_found'),
  switchBranch: atRest('branch_not_found'),
  // Nothing was restored here; the tests of runtime/files have files.
  restoreFiles: atRest('-'),
  // A fork shares only ended turns, so it is possible during a turn.
  fork: always('turn_not_found'),
  togglePin: always('message_not_found'),
  toggleToolCollapse: always('message_not_found'),
  toggleAllToolCollapses: always('message.collapsed'),
  addSystemMessage: always('note.added'),
  setSummary: always('checkpoint.written'),
  seedMessages: atRest('turn.started user.said turn.ended'),
  appendCheckpoint: atRest('checkpoint.written turn.started user.said turn.ended'),
  compact: atRest('nothing_to_compact'),
  undoCompaction: atRest('nothing_to_compact'),
  summarize: atRest('nothing_to_summarize'),
  truncateHistory: { ...atRest('-'), error: 'line.moved' },
  setHistory: atRest('line.moved'),
  appendClientEvent: always('client.said'),
  setBudgets: always('settings.changed'),
  setApprovals: always('settings.changed'),
  pinSession: always('settings.changed'),
  rename: always('settings.changed'),
  moveWorkdir: atRest('settings.changed'),
  // No file was found here; boundary.test.ts has one.
  setBoundary: always('bad_boundary'),
  clearBoundary: always('-'),
  clearAllBoundaries: always('-'),
  // No skill was found here; skill.test.ts has one.
  activateSkill: always('skill_not_found'),
  deactivateSkill: always('skill_not_active'),
  setServer: always('settings.changed'),
}

describe('each command in each phase', () => {
  const decidedHere = commandTypes.filter((type) => type in table) as readonly SessionCommandInput['type'][]
  it.each(decidedHere)('%s is accepted or refused in each phase', (type) => {
    expect(outcomes(states, eachCommand[type])).toEqual({ unborn, ...table[type] })
  })
})

describe('each queue command, with two steering prompts (5, 6) and one follow-up (7)', () => {
  const waiting: readonly EventInput[] = [queued('steering', 'a'), queued('steering', 'b'), queued('follow_up', 'c')]
  const held = {
    thinking: stateAfter(...thinking, ...waiting),
    aborted: stateAfter(...thinking, ...waiting, turnEnded('aborted')),
    error: stateAfter(...thinking, ...waiting, turnEnded('failed')),
  }

  it.each<[string, SessionCommandInput, string]>([
    ['recallQueues', { type: 'recallQueues' }, 'queue.removed'],
    ['clearQueues', { type: 'clearQueues' }, 'queue.removed'],
    ['dequeueSteering', { type: 'dequeueSteering' }, 'queue.removed'],
    ['editQueueEntry', { type: 'editQueueEntry', entry: 5, content: 'else' }, 'queue.edited'],
    ['editQueueEntry of nothing', { type: 'editQueueEntry', entry: 5, content: ' ' }, 'empty_prompt'],
    ['removeQueueEntry', { type: 'removeQueueEntry', entry: 7 }, 'queue.removed'],
    ['reorderQueue', { type: 'reorderQueue', queue: 'steering', entries: [6, 5] }, 'queue.reordered'],
    ['reorderQueue as it is', { type: 'reorderQueue', queue: 'steering', entries: [5, 6] }, '-'],
    ['reorderQueue by half', { type: 'reorderQueue', queue: 'steering', entries: [6] }, 'bad_request'],
    ['reorderQueue naming one twice', { type: 'reorderQueue', queue: 'steering', entries: [6, 6] }, 'bad_request'],
    ['reorderQueue across', { type: 'reorderQueue', queue: 'steering', entries: [5, 7] }, 'queue_entry_not_found'],
  ])('%s has the same result during a turn and after an aborted one', (_, command, row) => {
    expect(outcomes(held, command)).toEqual({ thinking: row, aborted: row, error: row })
  })
})

describe('each answer to an approval', () => {
  it.each([
    ['approve', 'call.approved'],
    ['approve_turn', 'call.approved trust.granted'],
    ['approve_session', 'call.approved trust.granted'],
    ['approve_always', 'call.approved trust.granted'],
    ['reject', 'call.settled'],
  ] as const)('%s', (decision, row) => {
    expect(decided(states.waiting, asked({ type: 'respondToApproval', decision }))).toBe(row)
  })

  it.each(['turn', 'session', 'workspace'] as const)('trusts for the %s, while idle and during a turn', (scope) => {
    const command: SessionCommandInput = { type: 'setToolTrust', tool: 'shell', scope, argsHash: aHash }
    expect(decided(states.idle, asked(command))).toBe('trust.granted')
    expect(decided(states.thinking, asked(command))).toBe('trust.granted')
  })
})

describe('the answer of each command', () => {
  const held = stateAfter(...thinking, queued('steering', 'a'), queued('steering', 'b'))
  const commands: Readonly<Record<SessionCommandInput['type'], SessionCommandInput>> = {
    ...eachCommand,
    editQueueEntry: { type: 'editQueueEntry', entry: 5, content: 'else' },
    removeQueueEntry: { type: 'removeQueueEntry', entry: 5 },
    reorderQueue: { type: 'reorderQueue', queue: 'steering', entries: [6, 5] },
  }
  /** Refused in every state here, or without effect: they need a history, a model or a file. Their own tests check their answers. */
  const refused = new Set<string>([
    ...['cycleModel', 'branchAt', 'switchBranch', 'rewind', 'fork', 'togglePin', 'toggleToolCollapse'],
    ...['compact', 'undoCompaction', 'summarize', 'setBoundary', 'clearBoundary', 'clearAllBoundaries'],
    ...['restoreFiles', 'activateSkill', 'deactivateSkill'],
  ])
  /** Nothing of them is recorded. */
  const unrecorded = new Set<string>(processRequests)
  const isTried = (type: string): type is SessionCommandInput['type'] => !refused.has(type) && !unrecorded.has(type)

  it.each(commandTypes.filter(isTried))('%s has the fields of its typed result', (type) => {
    const firsts = [...Object.values(states), held].flatMap((state) => events(state, asked(commands[type])).slice(0, 1))
    const fields = firsts.flatMap((event) => Object.keys(answerOf({ seq: 1, at: '', v: 1, event }).result))
    expect(firsts.length).toBeGreaterThan(0)
    // `ran` is added to the answer of a slash command, `rule` to that of `approve_always` with a stored rule.
    const expected = resultFields(type).filter((field) => field !== 'ran' && field !== 'rule')
    expect([...new Set(fields)].sort()).toEqual([...expected].sort())
  })
})

function outcomes(among: Readonly<Record<string, SessionState>>, command: SessionCommandInput): Record<string, string> {
  return Object.fromEntries(Object.entries(among).map(([name, state]) => [name, decided(state, asked(command)) || '-']))
}
