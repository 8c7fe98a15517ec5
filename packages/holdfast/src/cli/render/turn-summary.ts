import { addUsage, type CommandId, type EventOf, noUsage, type Recorded, type Usage } from '@holdfast/protocol'

export type TurnEnded = EventOf<'turn.ended'>

/** What one prompt came to: which turn it joined, what was said to it, what that cost, how it ended. */
export interface TurnAccount {
  /** The words of the last step in which the model said any. */
  readonly text: string
  readonly usage: Usage
  readonly end: TurnEnded | null
  add(record: Recorded): void
}

/** A prompt that found the session busy waits in a queue, and its turn is the one that takes it. */
export function createTurnAccount(prompt: CommandId): TurnAccount {
  let entry: number | null = null
  let turn: number | null = null
  let texts: readonly string[] = []
  let step: number | null = null
  let usage = noUsage
  let end: TurnEnded | null = null

  return {
    get text() {
      return texts.join('\n\n')
    },
    get usage() {
      return usage
    },
    get end() {
      return end
    },

    add({ seq, commandId, event }) {
      if (commandId === prompt) {
        if (event.type === 'prompt.queued') entry = seq
        if (event.type === 'turn.started') turn = event.turn
      }
      if (event.type === 'user.said' && entry !== null && event.entry === entry) turn = event.turn
      if (turn === null || !('turn' in event) || event.turn !== turn) return
      if (event.type === 'text.said') {
        texts = event.step === step ? [...texts, event.text] : [event.text]
        step = event.step
      }
      if (event.type === 'step.ended' && event.usage) usage = addUsage(usage, event.usage)
      if (event.type === 'turn.ended') end = event
    },
  }
}
