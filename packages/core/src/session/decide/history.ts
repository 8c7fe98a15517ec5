import { type HistoryCommand, ok, refuse, unreachable } from '@holdfast/protocol'
import type { Facts } from '../facts.ts'
import type { Decided } from '../input.ts'
import type { SessionState } from '../state.ts'
import { appendCheckpoint, compact, setSummary, summarize, undoCompaction } from './checkpoint.ts'
import { fork, returnToTurnEnd, setHistory, switchBranch, truncateHistory } from './line.ts'
import { addSystemMessage, toggleAllToolCollapses, togglePin, toggleToolCollapse } from './message.ts'
import { turnRunning } from './prompt.ts'
import { restoreFiles } from './restore.ts'
import { seed } from './seed.ts'

/** Decides commands that change the past: the current line, its marks, and what the model sees of it. */
export function decideHistory(state: SessionState, command: HistoryCommand, facts: Facts): Decided {
  switch (command.type) {
    case 'branchAt':
      return returnToTurnEnd(state, 'branch', command.turn, facts)
    case 'rewind':
      return returnToTurnEnd(state, 'rewind', command.turn, facts)
    case 'restoreFiles':
      return restoreFiles(state, facts)
    case 'switchBranch':
      return switchBranch(state, command.branch, facts)
    case 'truncateHistory':
      return truncateHistory(state, command, facts)
    case 'setHistory':
      return setHistory(state, command.messages, facts)
    case 'seedMessages':
      return state.turn.phase === 'idle' ? seed(state, command.messages) : refuse(turnRunning)
    case 'fork':
      return fork(state, command.at, facts)
    case 'togglePin':
      return togglePin(state, command.message, facts)
    case 'toggleToolCollapse':
      return toggleToolCollapse(state, command.message, facts)
    case 'toggleAllToolCollapses':
      return ok(toggleAllToolCollapses(state, facts))
    case 'addSystemMessage':
      return addSystemMessage(state, command.text, command.level)
    case 'compact':
      return compact(state, facts)
    case 'undoCompaction':
      return undoCompaction(state, facts)
    case 'appendCheckpoint':
      return appendCheckpoint(state, command, facts)
    case 'setSummary':
      return setSummary(state, command.summary)
    case 'summarize':
      return summarize(state, facts)
    default:
      return unreachable(command)
  }
}
