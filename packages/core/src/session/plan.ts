import type {
  BlobHash,
  CallId,
  Instant,
  ModelName,
  SessionId,
  StepId,
  ThinkingLevel,
  TurnNumber,
} from '@holdfast/protocol'
import { isAnswered, openCalls, type SessionState } from './state.ts'

/** Work that the session needs done. The performer starts effects with a new `key` and aborts those whose key is gone. */
export type Effect = Readonly<{ key: string }> &
  Readonly<
    /** Waits until a question expires. */
    | { type: 'await-approval'; call: CallId; until: Instant }
    /** Gathers system text and tool schemas, then asks to start the next step. */
    | { type: 'prepare-step'; turn: TurnNumber }
    /** Runs the Stop hooks of an answered turn, then ends it. */
    | { type: 'finish-turn'; turn: TurnNumber }
    | { type: 'call-model'; step: StepId; model: ModelName; thinkingLevel: ThinkingLevel }
    /** Finds out what a call would do, before the question is put. May run again after a crash. */
    | { type: 'prepare-call'; call: CallId; tool: string }
    /** Runs a call. After a restart, one whose subagent waits for an approval is started already: it waits on. */
    | { type: 'run-tool'; call: CallId; tool: string; argsHash: BlobHash; contentHash: BlobHash | null }
    /** Waits until a subagent in the background has ended, then delivers its result. */
    | { type: 'follow-child'; child: SessionId; call: CallId }
  >

export type EffectOf<Type extends Effect['type']> = Extract<Effect, { type: Type }>

/** Returns the effects that the session needs now. It depends on the state alone, so it can be asked again at any time. */
export function plan(state: SessionState): readonly Effect[] {
  const followed = state.children.filter(({ isBackground }) => isBackground)
  if (followed.length === 0) return planTurn(state)
  const follow = followed.map(({ session: child, call }): Effect => {
    return { type: 'follow-child', key: `follow-child:${child}`, child, call }
  })
  return [...planTurn(state), ...follow]
}

function planTurn(state: SessionState): readonly Effect[] {
  const { turn, settings } = state
  switch (turn.phase) {
    case 'idle':
      return []
    case 'preparing': {
      const { number, steps } = turn
      if (isAnswered(state)) return [{ type: 'finish-turn', key: `finish-turn:${number}:${steps}`, turn: number }]
      // Another mode has another system text.
      return [{ type: 'prepare-step', key: `prepare-step:${number}:${steps}:${settings.mode}`, turn: number }]
    }
    case 'thinking': {
      const { step, model, thinkingLevel } = turn
      return [{ type: 'call-model', key: `call-model:${step}`, step, model, thinkingLevel }]
    }
    case 'acting':
      return openCalls(state).flatMap((call): readonly Effect[] => {
        const { id, tool } = call
        if (call.status === 'requested') return [{ type: 'prepare-call', key: `prepare-call:${id}`, call: id, tool }]
        if (call.status === 'asked') {
          if (call.expiresAt === null) return []
          return [{ type: 'await-approval', key: `await-approval:${id}`, call: id, until: call.expiresAt }]
        }
        const contentHash = call.status === 'approved' ? call.contentHash : null // a started call is running already
        const { argsHash } = call
        const run = { type: 'run-tool', key: `run-tool:${id}`, call: id, tool, argsHash, contentHash } as const
        const question = call.status === 'started' ? call.question : undefined
        if (!question?.expiresAt) return [run]
        const key = `await-approval:${question.approval}`
        return [run, { type: 'await-approval', key, call: id, until: question.expiresAt }]
      })
  }
}
