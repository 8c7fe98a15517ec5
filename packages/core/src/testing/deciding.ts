import { BlobHash, ClientId, Command, CommandId, type Event, eventVersion, invariant, StepId } from '@holdfast/protocol'
import {
  aHash,
  approvedBy,
  askedFor,
  requested,
  scriptedUsage,
  stateAfter,
  thinking,
  turnEnded,
} from '@holdfast/testkit'
import type { SaidPart } from '../ports/provider.ts'
import { decide } from '../session/decide.ts'
import { evolve } from '../session/evolve.ts'
import type { Facts } from '../session/facts.ts'
import type { Input, Report, SessionCommand } from '../session/input.ts'
import { emptySession, type SessionState } from '../session/state.ts'
import type { SessionCommandInput } from './each-command.ts'

export const asked = (command: SessionCommandInput, facts: Facts = {}, by: string | null = null): Input => ({
  type: 'command',
  commandId: CommandId.parse('cmd-1'),
  by: by === null ? null : ClientId.parse(by),
  command: Command.parse(command) as SessionCommand, // as its type says
  facts,
})

/** Returns the types of the events that an input makes, or the code of its fault. */
export const decided = (state: SessionState, input: Input): string => {
  const result = decide(state, input)
  return result.ok ? result.value.map((event) => event.type).join(' ') : result.fault.code
}

/** Returns the events that an input makes; none when it is refused. */
export const events = (state: SessionState, input: Input): readonly Event[] => {
  const result = decide(state, input)
  return result.ok ? result.value : []
}

/** Returns the state after some inputs. None may be refused, and each must change something. */
export const livedThrough = (state: SessionState, ...inputs: readonly Input[]): SessionState =>
  inputs.reduce((before, input) => {
    const made = events(before, input)
    invariant(made.length > 0, `${JSON.stringify(input)} came to ${decided(before, input) || 'nothing'}`)
    return made.reduce(
      (sum, event) => evolve(sum, { seq: sum.seq + 1, at: '', v: eventVersion[event.type], event }),
      before,
    )
  }, state)

/** Returns the report that the next step is prepared. */
export function stepPrepared(state: SessionState): Report {
  invariant(state.turn.phase !== 'idle', 'a step is prepared in a turn')
  const hash = BlobHash.parse(aHash)
  return {
    type: 'step.prepared',
    turn: state.turn.number,
    mode: state.settings.mode,
    system: hash,
    tools: hash,
    checkpoint: null,
  }
}

/** Returns an answer to the running step; one word and no call by default. */
export function modelReplied(state: SessionState, ...parts: readonly SaidPart[]): Report {
  const step = state.turn.phase === 'thinking' ? state.turn.step : StepId.parse(0)
  const spoken: readonly SaidPart[] = parts.length > 0 ? parts : [{ type: 'text', text: 'done' }]
  const finish = spoken.some(({ type }) => type === 'call') ? 'calls' : 'stop'
  return { type: 'model.replied', step, parts: spoken, finish, usage: scriptedUsage }
}

/** A session in each of its phases. */
export const phases = {
  unborn: emptySession(),
  idle: stateAfter(),
  done: stateAfter(...thinking, turnEnded('done')),
  failed: stateAfter(...thinking, turnEnded('failed')),
  preparing: stateAfter(...thinking.slice(0, 2)),
  thinking: stateAfter(...thinking),
  asked: stateAfter(...requested, askedFor(5)),
  started: stateAfter(...requested, approvedBy(5), { type: 'call.started', call: 5 }),
}
