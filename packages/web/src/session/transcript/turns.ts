import { addUsage, type Finish, type Message, type ModelFault, noUsage, type Usage } from '@holdfast/protocol'
import { useRef } from 'react'

/** The messages of one turn, the unit a screen draws, folds away and skips. */
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

export const isSameList = (before: readonly unknown[], after: readonly unknown[]): boolean =>
  before.length === after.length && before.every((one, place) => one === after[place])

/**
 * The turns, each the same object for as long as its messages are: the transcript changes its list in place, and a
 * screen that streams must redraw the last turn only.
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

/** The prompt that began a turn, if it is at hand: what steered it came later, and only notes may come before. */
export function openingOf(messages: readonly Message[]): Message | undefined {
  const first = messages.find(({ kind }) => kind !== 'system' && kind !== 'notice')
  return first?.kind === 'user' ? first : undefined
}

export type TurnSummary = {
  /** What its model calls used together; null when none has said. */
  readonly usage: Usage | null
  /** Why its last model call failed, if it did. */
  readonly fault: ModelFault | null
}

export function summarizeTurn(messages: readonly Message[]): TurnSummary {
  const steps = messages.filter((message) => message.kind === 'usage')
  const usages = steps.flatMap(({ usage }) => (usage === null ? [] : [usage]))
  const isUncounted = steps.some(({ usage, finish }) => usage === null && isAnswer(finish))
  return {
    usage: usages.length === 0 ? null : usages.reduce(addUsage, isUncounted ? { ...noUsage, cost: null } : noUsage),
    fault: steps.at(-1)?.fault ?? null,
  }
}

/** Whether a call came to its end, so that it cost something, whatever is known of it. */
const isAnswer = (finish: Finish): boolean => finish !== 'failed' && finish !== 'aborted' && finish !== 'interrupted'
