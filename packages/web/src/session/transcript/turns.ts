import { addUsage, type Finish, type Message, type ModelFault, noUsage, type Usage } from '@holdfast/protocol'
import { useRef } from 'react'
import { tokensOf } from '../../text/format.ts'

/** The messages of one turn. */
export type TurnMessages = { readonly turn: number; readonly messages: readonly Message[] }

export function turnsOf(messages: readonly Message[]): readonly TurnMessages[] {
  const turns = new Map<number, Message[]>()
  for (const message of messages) {
    const found = turns.get(message.turn)
    if (found) found.push(message)
    else turns.set(message.turn, [message])
  }
  return [...turns].map(([turn, messages]) => ({ turn, messages }))
}

const isSameList = (before: readonly unknown[], after: readonly unknown[]): boolean =>
  before.length === after.length && before.every((one, index) => one === after[index])

/**
 * Groups messages by turn. A turn is the same object while its messages are the same, so that only the last turn is
 * redrawn while it streams.
 */
export function useTurns(messages: readonly Message[]): readonly TurnMessages[] {
  const kept = useRef<{ readonly messages: readonly Message[]; readonly turns: readonly TurnMessages[] }>({
    messages: [],
    turns: [],
  })
  if (!isSameList(kept.current.messages, messages)) {
    const before = new Map(kept.current.turns.map((turn) => [turn.turn, turn]))
    const turns = turnsOf(messages).map((turn) => {
      const old = before.get(turn.turn)
      return old && isSameList(old.messages, turn.messages) ? old : turn
    })
    kept.current = { messages: [...messages], turns }
  }
  return kept.current.turns
}

/** Returns the prompt that started a turn, if loaded. Only notes may come before it. */
export function openingOf(messages: readonly Message[]): Message | undefined {
  const first = messages.find(({ kind }) => kind !== 'system' && kind !== 'notice')
  return first?.kind === 'user' ? first : undefined
}

type TurnSummary = {
  /** Total usage of its model calls; null when unknown. */
  readonly usage: Usage | null
  /** The fault of its last model call, if it failed. */
  readonly fault: ModelFault | null
}

export function summarizeTurn(messages: readonly Message[]): TurnSummary {
  const steps = messages.filter((message) => message.kind === 'usage')
  // A call that was stopped before its answer reports zeros, which are not what it cost.
  const usages = steps.flatMap(({ usage }) => (usage === null || tokensOf(usage) === 0 ? [] : [usage]))
  const isUncounted = steps.some(({ usage, finish }) => usage === null && isAnswer(finish))
  return {
    usage: usages.length === 0 ? null : usages.reduce(addUsage, isUncounted ? { ...noUsage, cost: null } : noUsage),
    fault: steps.at(-1)?.fault ?? null,
  }
}

/** Whether a model call was answered, and so cost something. */
const isAnswer = (finish: Finish): boolean => finish !== 'failed' && finish !== 'aborted' && finish !== 'interrupted'
