import { type Event, fault, ok, type Result, refuse, unreachable } from '@holdfast/protocol'
import { respondToApproval } from './decide/approval.ts'
import { beginCall, expireApproval, judgeCall, settleCall, tellEscape } from './decide/call.ts'
import { moveWorkdir, nameIt, pinSession, rename } from './decide/catalogue.ts'
import { withLengths, withoutAwaited } from './decide/derived-events.ts'
import { decideHistory } from './decide/history.ts'
import { appendClientEvent } from './decide/message.ts'

import { enterMode } from './decide/mode.ts'
import { decideModelCommand } from './decide/model.ts'
import { continueTurn, sendPrompt } from './decide/prompt.ts'
import { editEntry, recallQueues, removeEntry, reorder } from './decide/queue.ts'
import { abandonTurn, recover } from './decide/recovery.ts'
import { tellRetry } from './decide/retry.ts'
import { beginStep, endStep, failTurn } from './decide/step.ts'
import { revokeToolTrust, setToolTrust } from './decide/trust.ts'
import type { Asked, Input } from './input.ts'
import type { SessionState } from './state.ts'

/**
 * Decides whether an input may happen and which events it makes. Pure: no clock, no randomness, no await. A report
 * about work that is no longer planned changes nothing.
 */
export function decide(state: SessionState, input: Input): Result<readonly Event[]> {
  const decided = decideInput(state, input)
  return decided.ok ? ok(withLengths(state, withoutAwaited(state, decided.value))) : decided
}

function decideInput(state: SessionState, input: Input): Result<readonly Event[]> {
  switch (input.type) {
    case 'command':
      return state.origin === null ? refuse(notStarted) : decideCommand(state, input)
    case 'step.prepared':
      // Prepared for another mode, it is outdated: the step is being prepared again.
      return ok(isPreparing(state, input.turn) && input.mode === state.settings.mode ? beginStep(state, input) : [])
    case 'step.refused':
      return ok(isPreparing(state, input.turn) ? failTurn(state, input.fault) : [])
    case 'model.replied':
    case 'model.failed':
      return ok(state.turn.phase === 'thinking' && state.turn.step === input.step ? endStep(state, input) : [])
    case 'model.retrying':
      return ok(state.turn.phase === 'thinking' && state.turn.step === input.step ? tellRetry(state, input) : [])
    case 'call.prepared':
      return ok(judgeCall(state, input))
    case 'approval.expired':
      return ok(expireApproval(state, input))
    case 'tool.starting':
      return ok(beginCall(state, input))
    case 'tool.finished':
      return ok(settleCall(state, input))
    case 'title.written':
      return ok(nameIt(state, input))
    case 'process.escaped':
      return ok(tellEscape(state, input))
    case 'process.stopped':
      return ok(recover(state, 'stopped', input.draft))
    case 'process.restarted':
      return ok(recover(state, 'crashed', input.draft))
    default:
      return unreachable(input)
  }
}

function decideCommand(state: SessionState, { command, by, facts }: Asked): Result<readonly Event[]> {
  switch (command.type) {
    case 'sendPrompt':
    case 'queueSteering':
      return sendPrompt(state, command.content, 'steering')
    case 'queueFollowUp':
      return sendPrompt(state, command.content, 'follow_up')
    case 'recallQueues':
      return ok(recallQueues(state, ['steering', 'follow_up'], true))
    case 'clearQueues':
      return ok(recallQueues(state, ['steering', 'follow_up'], false))
    case 'dequeueSteering':
      return ok(recallQueues(state, ['steering'], true))
    case 'editQueueEntry':
      return editEntry(state, command)
    case 'removeQueueEntry':
      return removeEntry(state, command)
    case 'reorderQueue':
      return reorder(state, command)
    case 'respondToApproval':
      return respondToApproval(state, command, by, facts)
    case 'abort':
      return ok(abandonTurn(state, 'aborted', facts)) // idle: nothing to do
    case 'continue':
      return continueTurn(state)
    case 'enterPlan':
      return ok(enterMode(state, 'plan', by))
    case 'enterExec':
      return ok(enterMode(state, 'exec', by, command.keepPlan, facts.lastAnswer))
    case 'setBudgets':
      return ok([{ type: 'settings.changed', budgets: command.budgets }])
    case 'setToolTrust':
      return setToolTrust(state, command)
    case 'revokeToolTrust':
      return ok(revokeToolTrust(command))
    case 'setModel':
    case 'cycleModel':
    case 'setThinkingLevel':
    case 'cycleThinkingLevel':
      return decideModelCommand(state, command, facts)
    case 'pinSession':
      return ok(pinSession(state, command))
    case 'rename':
      return ok(rename(state, command))
    case 'moveWorkdir':
      return moveWorkdir(state, command, facts)
    case 'appendClientEvent':
      return ok(appendClientEvent(command))
    default:
      return decideHistory(state, command, facts)
  }
}

const notStarted = fault('session_not_found', 'This session has not been started.')

const isPreparing = ({ turn }: SessionState, number: number) => turn.phase === 'preparing' && turn.number === number
