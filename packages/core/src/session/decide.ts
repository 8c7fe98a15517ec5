import {
  type CallId,
  type Event,
  fault,
  isOnLine,
  messagesAfter,
  ok,
  payerOf,
  refuse,
  tokensAfter,
  unreachable,
} from '@holdfast/protocol'
import { respondToApproval, revokeToolTrust, setToolTrust, spreadTrust } from './decide/approval.ts'
import { clearAllBoundaries, clearBoundary, setBoundary } from './decide/boundary.ts'
import {
  expireApproval,
  judgeCall,
  judgeChangedCall,
  noteEscapedProcess,
  recordTouched,
  settle,
  settleCall,
  startCall,
} from './decide/call.ts'
import { deliver, giveTask, startChild } from './decide/child.ts'
import { decideHistory } from './decide/history.ts'
import { recordHooks } from './decide/hook.ts'
import { appendClientEvent } from './decide/message.ts'
import { continueTurn, editEntry, recallQueues, removeEntry, reorder, sendPrompt } from './decide/prompt.ts'
import { askQuestion } from './decide/question.ts'
import { abandonTurn, recover } from './decide/recovery.ts'
import { startRestore } from './decide/restore.ts'
import * as settings from './decide/settings.ts'
import { activateSkill, deactivateSkill } from './decide/skill.ts'
import { capStep, endStep, failTurn, finishTurn, noteRetry, startStep } from './decide/step.ts'
import type { Asked, Decided, Events, Input } from './input.ts'
import { isAbortOf, type SessionState } from './state.ts'

/** Decides whether an input may happen and which events it makes. A report about work no longer planned makes none. */
export function decide(state: SessionState, input: Input): Decided {
  const decided = decideInput(state, input)
  return decided.ok ? ok(withLengths(state, withoutAwaited(state, decided.value))) : decided
}

function decideInput(state: SessionState, input: Input): Decided {
  switch (input.type) {
    case 'command':
      return state.origin === null ? refuse(notStarted) : decideCommand(state, input)
    case 'step.prepared':
      // Prepared for another mode, it is outdated: the step is being prepared again.
      return ok(isPreparing(state, input.turn) && input.mode === state.settings.mode ? startStep(state, input) : [])
    case 'step.capped':
      return ok(isPreparing(state, input.turn) ? capStep(state, input) : [])
    case 'step.refused':
      return ok(isPreparing(state, input.turn) ? failTurn(state, input.fault) : [])
    case 'model.replied':
    case 'model.failed':
      return ok(isThinking(state, input.step) ? endStep(state, input) : [])
    case 'model.retrying':
      return ok(isThinking(state, input.step) ? noteRetry(state, input) : [])
    case 'turn.finishing':
      return ok(isPreparing(state, input.turn) ? finishTurn(state, input) : [])
    case 'hooks.ran':
      return ok(recordHooks(state, input))
    case 'call.prepared':
      return ok(judgeCall(state, input))
    case 'call.changed':
      return ok(judgeChangedCall(state, input))
    case 'approval.expired':
      return ok(expireApproval(state, input))
    case 'question.asked':
      return ok(askQuestion(state, input))
    case 'tool.starting':
      return ok(startCall(state, input))
    case 'tool.finished':
      return ok(settleCall(state, input))
    case 'child.starting':
      return ok(startChild(state, input))
    case 'child.finished':
      return ok(deliver(state, input))
    case 'task.given':
      return ok(giveTask(state, input))
    case 'trust.spread':
      return ok(spreadTrust(state, input))
    case 'restore.starting':
      return ok([startRestore(input)])
    case 'title.written':
      return ok(settings.addTitle(state, input))
    case 'files.found':
      return ok(recordTouched(state, input))
    case 'process.escaped':
      return ok(noteEscapedProcess(state, input))
    case 'process.stopped':
      return ok(recover(state, 'stopped', input))
    case 'process.restarted':
      return ok(recover(state, 'crashed', input))
    default:
      return unreachable(input)
  }
}

function decideCommand(state: SessionState, { command, by, person, facts }: Asked): Decided {
  const payer = payerOf(person)
  switch (command.type) {
    case 'sendPrompt':
    case 'queueSteering':
      return sendPrompt(state, { content: command.content, queue: 'steering', payer }, facts)
    case 'queueFollowUp':
      return sendPrompt(state, { content: command.content, queue: 'follow_up', payer }, facts)
    case 'recallQueues':
      return ok(recallQueues(state, ['steering', 'follow_up'], true))
    case 'clearQueues':
      return ok(recallQueues(state, ['steering', 'follow_up'], false))
    case 'dequeueSteering':
      return ok(recallQueues(state, ['steering'], true))
    case 'editQueueEntry':
      return editEntry(state, { ...command, payer }, facts)
    case 'removeQueueEntry':
      return removeEntry(state, command)
    case 'reorderQueue':
      return reorder(state, command)
    case 'respondToApproval':
      return respondToApproval(state, command, by, facts)
    case 'abort':
      return ok(isAbortOf(state, command) ? abandonTurn(state, 'aborted', facts) : []) // idle: nothing to do
    case 'continue':
      return continueTurn(state, payer, facts)
    case 'enterPlan':
      return ok(settings.enterMode(state, 'plan', by))
    case 'enterExec':
      return ok(settings.enterMode(state, 'exec', by, command.keepPlan, facts.lastAnswer))
    case 'setBudgets':
      return ok([{ type: 'settings.changed', budgets: command.budgets }])
    case 'setApprovals':
      return ok([{ type: 'settings.changed', approvals: command.approvals }])
    case 'setToolTrust':
      return setToolTrust(state, command)
    case 'revokeToolTrust':
      return ok(revokeToolTrust(command))
    case 'setModel':
      return ok(settings.setModel(state, command))
    case 'cycleModel':
      return settings.cycleModel(state, command, facts)
    case 'setThinkingLevel':
      return ok(settings.setThinkingLevel(state, command))
    case 'cycleThinkingLevel':
      return ok(settings.cycleThinkingLevel(state, facts))
    case 'pinSession':
      return ok(settings.pinSession(state, command))
    case 'rename':
      return ok(settings.rename(state, command))
    case 'moveWorkdir':
      return settings.moveWorkdir(state, command, facts)
    case 'setBoundary':
      return setBoundary(state, command, facts)
    case 'clearBoundary':
      return ok(clearBoundary(state, facts.file?.path ?? command.path, facts.file?.linked))
    case 'clearAllBoundaries':
      return ok(clearAllBoundaries(state))
    case 'activateSkill':
      return activateSkill(state, command, facts)
    case 'deactivateSkill':
      return deactivateSkill(state, command)
    case 'setServer':
      return settings.setServer(state, command)
    case 'appendClientEvent':
      return ok(appendClientEvent(command))
    default:
      return decideHistory(state, command, facts)
  }
}

const notStarted = fault('session_not_found', 'This session has not been started.')

const isPreparing = ({ turn }: SessionState, number: number) => turn.phase === 'preparing' && turn.number === number

const isThinking = ({ turn }: SessionState, step: number) => turn.phase === 'thinking' && turn.step === step

/** Settles calls whose program will report no result: a turn of the session began, or the call's line was left. */
function withoutAwaited({ awaited }: SessionState, events: Events): Events {
  if (awaited.length === 0) return events
  const settled = new Set(events.flatMap((event) => (event.type === 'call.settled' ? [event.call] : [])))
  const endsCall = (event: Event, call: CallId) =>
    (event.type === 'turn.started' && event.cause !== 'seed') ||
    (event.type === 'line.moved' && !isOnLine(event.to, call))
  const over = awaited.filter(({ call }) => !settled.has(call) && events.some((event) => endsCall(event, call)))
  return [...events, ...over.map(({ call }) => settle(call, { type: 'interrupted', code: 'cancelled' }))]
}

/** Adds the length of the line to each end of a turn, so that a later branch need not count. */
export function withLengths({ messages, tokens }: SessionState, events: Events): Events {
  let length = { messages, tokens }
  const measured: Events[number][] = []
  for (const event of events) {
    length = { messages: messagesAfter(length.messages, event), tokens: tokensAfter(length.tokens, event) }
    measured.push(event.type === 'turn.ended' ? { ...event, ...length } : event)
  }
  return measured
}
