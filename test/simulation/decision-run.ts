import { isDeepStrictEqual } from 'node:util'
import {
  decide,
  type Effect,
  emptySession,
  evolve,
  type Input,
  plan,
  type ReportOf,
  type SessionCommand,
  type SessionState,
  viewOf,
} from '@holdfast/core'
import {
  addToView,
  BlobHash,
  type CallId,
  Command,
  CommandId,
  Event,
  eventVersion,
  invariant,
  type Recorded,
  SessionId,
  type StepId,
} from '@holdfast/protocol'
import { createDice, type Dice, factsFor } from '@holdfast/testkit'
import { askedCalls, openCalls } from '../../packages/core/src/session/state.ts'
import { createRecordChecker, type RecordChecker } from './record-checker.ts'

const hash = BlobHash.parse('a'.repeat(64))
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: null }
const fault = { kind: 'unreachable', message: 'gone' } as const
const born = Event.parse({
  type: 'session.started',
  handle: 'calm-harbor-1',
  workdir: '/work',
  settings: {
    model: 'sim/model',
    thinkingLevel: 'off',
    mode: 'exec',
    budgets: { maxSteps: 4 },
    approvalTimeoutMs: 1000,
  },
})

/** The pure core: state, log, and the effects that are not reported yet. */
type Core = { state: SessionState; readonly log: Recorded[]; commands: number; readonly accounts: RecordChecker }

function take(core: Core, input: Input): void {
  const decided = decide(core.state, input)
  if (!decided.ok) return
  for (const event of decided.value) record(core, event)
}

function record(core: Core, event: Event): void {
  const { state } = core
  const one = { seq: state.seq + 1, at: '2026-01-01T00:00:00.000Z', v: eventVersion[event.type], event }
  const next = evolve(state, one)
  const view = addToView(viewOf(state), one)
  invariant(isDeepStrictEqual(view, viewOf(next)), `a client's view parts from the state at ${one.seq} ${event.type}`)
  const problem = core.accounts.problemWith(one, next)
  invariant(problem === null, problem ?? '')
  core.log.push(one)
  core.state = next
}

function reportOn(effect: Effect, dice: Dice, { state }: Core): Input {
  switch (effect.type) {
    case 'prepare-step': {
      if (dice.chance(1, 12)) return { type: 'step.refused', turn: effect.turn, fault }
      return {
        type: 'step.prepared',
        turn: effect.turn,
        mode: state.settings.mode,
        system: hash,
        tools: hash,
        checkpoint: null,
      }
    }
    case 'finish-turn':
      return { type: 'turn.finishing', turn: effect.turn, hooks: stopHooks(dice) }
    case 'call-model': {
      const { step, model } = effect
      if (dice.chance(1, 8)) return { type: 'model.retrying', step, tries: 1, fault, waitMs: 1000 }
      if (dice.chance(1, 6))
        return { type: 'model.failed', step, parts: [], fault, usage: null, fallback: spareFor(state, model) }
      return answer(step, dice)
    }
    case 'prepare-call': {
      if (dice.chance(1, 4)) return preToolUse(effect.call, dice)
      if (dice.chance(1, 8)) return { type: 'call.prepared', call: effect.call, found: { unusable: 'no' }, atMs: 0 }
      const preview = { type: 'arguments' as const, args: {} }
      return {
        type: 'call.prepared',
        call: effect.call,
        found: { facts: factsOf(effect.tool), argsHash: hash, preview },
        atMs: 0,
      }
    }
    case 'await-approval':
      return { type: 'approval.expired', call: effect.call }
    case 'run-tool': {
      const { call, tool } = effect
      if (dice.chance(1, 8)) {
        const found = { facts: factsOf(tool), argsHash: hash, preview: { type: 'arguments' as const, args: {} } }
        return { type: 'call.changed', call, found, atMs: 0 }
      }
      if (dice.chance(1, 2)) return { type: 'tool.starting', call, facts: factsOf(tool), process: null }
      if (dice.chance(1, 3)) return childStarting(call, dice)
      const outcome = { type: 'ok' as const, output: { text: 'done' } }
      return { type: 'tool.finished', call, outcome, durationMs: 1, files: [] }
    }
    case 'follow-child':
      return {
        type: 'child.finished',
        child: effect.child,
        status: 'completed',
        output: { text: 'found' },
        handle: null,
      }
  }
}

/** Returns that a call starts a subagent, which it waits for or not. It counts if the call is started. */
const childStarting = (call: CallId, dice: Dice): Input => ({
  type: 'child.starting',
  call,
  child: childFor(call),
  agent: 'general',
  task: 'look',
  background: dice.chance(1, 2),
})

const childFor = (call: CallId): SessionId => SessionId.parse(`ses_${String(call).padStart(26, '0')}`)

const hookRun = { hook: 'sh check.sh', source: 'user', outcome: 'ok', durationMs: 1 } as const

/** Returns what PreToolUse hooks do before the call is judged: change it, ask, allow or end the turn. */
function preToolUse(call: CallId, dice: Dice): Input {
  const permission = dice.pick(['allow', 'ask'] as const) ?? 'ask'
  const said = dice.pick([{}, { permission }, { context: 'mind the tests' }, { stop: 'enough' }]) ?? {}
  const args = dice.chance(1, 2) ? { value: { changed: true }, by: 'sh check.sh' } : null
  return { type: 'hooks.ran', runs: [{ event: 'PreToolUse', ...hookRun, ...said }], call, args }
}

/** Returns the answer of Stop hooks: they go on, end the turn, or have nothing to say. */
function stopHooks(dice: Dice): ReportOf<'turn.finishing'>['hooks'] {
  const block = dice.chance(1, 2) ? 'run the tests' : null
  const outcome = block === null ? 'ok' : 'blocked'
  const runs = [{ event: 'Stop', ...hookRun, outcome } as const]
  return dice.pick([null, { runs, block, stop: null }, { runs, block, stop: 'enough' }]) ?? null
}

/** Returns the fallback models that were not called in this turn. */
function spareFor({ turn }: SessionState, model: string): string | null {
  const tried = [...((turn.phase !== 'idle' && turn.fallback?.tried) || []), model]
  return ['sim/spare', 'sim/last'].find((one) => !tried.includes(one)) ?? null
}

const factsOf = (tool: string) => factsFor(tool, { isDestructive: tool === 'touch', isReadOnly: tool !== 'touch' })

function answer(step: StepId, dice: Dice): Input {
  const tools = Array.from({ length: dice.below(4) }, () => dice.pick(['look', 'touch']) ?? 'look')
  const calls = tools.map((tool) => ({
    type: 'call' as const,
    tool,
    args: {},
    ...(dice.chance(1, 5) && { malformed: 'not JSON' }),
  }))
  const parts = [{ type: 'text' as const, text: 'hm' }, ...calls]
  if (dice.chance(1, 6)) return { type: 'model.failed', step, parts, fault, usage: null }
  const hasStopHooks = dice.chance(1, 2)
  return { type: 'model.replied', step, parts, finish: calls.length > 0 ? 'calls' : 'stop', usage, hasStopHooks }
}

function command(core: Core, dice: Dice): Input {
  const approval = dice.chance(1, 2) ? dice.pick(askedCalls(core.state))?.approval : undefined
  const entry = dice.pick(core.state.queue)?.id ?? 1
  const scope = dice.pick(['turn', 'session'])
  const wanted = dice.pick([
    { type: 'sendPrompt', content: 'go on' },
    { type: 'sendPrompt', content: 'steer' },
    { type: 'queueSteering', content: 'this way' },
    { type: 'queueFollowUp', content: 'and then' },
    { type: 'queueFollowUp', content: 'at last' },
    dice.pick([{ type: 'recallQueues' }, { type: 'clearQueues' }, { type: 'dequeueSteering' }]),
    dice.pick([
      { type: 'removeQueueEntry', entry },
      { type: 'editQueueEntry', entry, content: 'better' },
      newOrder(core),
    ]),
    { type: 'respondToApproval', decision: dice.pick(['approve', 'reject']), approval },
    { type: 'respondToApproval', decision: dice.pick(['approve', 'approve_turn', 'approve_session']) },
    dice.pick([
      { type: 'setToolTrust', tool: 'touch', scope, ...(dice.chance(1, 2) && { argsHash: hash }) },
      { type: 'revokeToolTrust', tool: dice.pick(['touch', 'all']) },
    ]),
    { type: 'abort' },
    { type: 'continue' },
    { type: 'enterPlan' },
    { type: 'enterExec' },
    { type: 'setModel', model: dice.pick(['sim/model', 'sim/other', 'sim/spare']) },
  ])
  const commandId = CommandId.parse(`cmd-${core.commands++}`)
  const command = Command.parse(wanted) as SessionCommand // all commands above are session commands
  return { type: 'command', commandId, by: null, command, facts: {} }
}

/** Returns the steering queue in reverse order. */
const newOrder = ({ state }: Core) => {
  const entries = state.queue.filter(({ queue }) => queue === 'steering').map(({ id }) => id)
  return { type: 'reorderQueue', queue: 'steering', entries: entries.length > 0 ? entries.reverse() : [1] }
}

/** Runs the pure core with the random choices of a seed. */
export function runDecisionSeed(seed: number): void {
  const dice = createDice(seed)
  const core: Core = { state: emptySession(), log: [], commands: 0, accounts: createRecordChecker() }
  record(core, born)
  const late: Input[] = []

  for (let round = 0; round < 120; round++) {
    const effect = dice.pick(plan(core.state))
    const report = effect && reportOn(effect, dice, core)
    if (report && dice.chance(1, 3)) late.push(report)
    if (report && dice.chance(3, 5)) take(core, report)
    else if (dice.chance(1, 6)) take(core, dice.pick(late) ?? { type: 'process.restarted', draft: null })
    else if (dice.chance(1, 10)) restart(core, dice)
    else take(core, command(core, dice))
    checkLog(core)
  }
  comeToRest(core, dice)
}

/** Restarts the process. Of the subagents, some wait for an approval, and the others have ended. */
function restart(core: Core, dice: Dice): void {
  const waiting = askedCalls(core.state).map(({ id }) => id)
  core.state = core.log.reduce(evolve, emptySession())
  const status = dice.pick(['completed', 'interrupted', 'failed'] as const) ?? 'failed'
  const end = { status, output: { text: 'last words' }, handle: null }
  const children = core.state.children.map(({ session }) => ({ session, end: dice.chance(1, 2) ? end : null }))
  const kept = new Set(children.flatMap(({ session, end }) => (end === null ? [session] : [])))
  take(core, { type: 'process.restarted', draft: null, children })
  for (const { session } of core.state.children) invariant(kept.has(session), 'the result of a subagent is lost')
  const after = askedCalls(core.state).map(({ id }) => id)
  invariant(isDeepStrictEqual(after, waiting), 'a question did not survive a crash')
  const followed = new Set(core.state.children.map(({ call }) => call))
  const isWaiting = (effect: Effect) =>
    effect.type === 'await-approval' ||
    effect.type === 'follow-child' ||
    (effect.type === 'run-tool' && followed.has(effect.call))
  const begun = plan(core.state).filter((effect) => !isWaiting(effect)) // waiting for an approval continues
  invariant(begun.length === 0, 'something starts by itself after a crash')
}

function checkLog({ state, log }: Core): void {
  invariant(isDeepStrictEqual(log.reduce(evolve, emptySession()), state), 'the live state differs from the folded log')
  const of = (type: Event['type']) =>
    log.flatMap(({ event }) => (event.type === type && 'call' in event ? event.call : []))
  for (const type of ['call.started', 'call.settled', 'child.started'] as const) {
    invariant(new Set(of(type)).size === of(type).length, `${type} twice for one call`)
  }
  const ended = log.flatMap(({ event }) => (event.type === 'child.ended' ? [event.child] : []))
  invariant(new Set(ended).size === ended.length, 'the result of a subagent was delivered twice')
  invariant(isDeepStrictEqual(plan(state), plan(structuredClone(state))), 'plan answers differently when asked again')
}

/** Runs all effects without new commands, and checks that the session becomes idle or waits for an approval. */
function comeToRest(core: Core, dice: Dice): void {
  for (let patience = 500; plan(core.state).length > 0; patience--) {
    invariant(patience > 0, 'the session never becomes idle')
    for (const effect of plan(core.state)) take(core, reportOn(effect, dice, core))
  }
  const isWaiting = openCalls(core.state).every(({ status }) => status === 'asked')
  invariant(
    core.state.turn.phase === 'idle' || (core.state.turn.phase === 'acting' && isWaiting),
    'the session is busy, but no effect runs',
  )
}
