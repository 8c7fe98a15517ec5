import { addUsage, type CommandId, type EventOf, noUsage, type Recorded } from '@holdfast/protocol'

export type TurnEnded = EventOf<'turn.ended'>

/** The turn of one prompt: its answer, its usage and how it ended. */
export type TurnSummary = ReturnType<typeof createTurnSummary>

/** Collects the summary from records. The turn of a queued prompt is the one that takes it from the queue. */
export function createTurnSummary(prompt: CommandId) {
  let entry: number | null = null
  let turn: number | null = null
  let texts: readonly string[] = []
  let step: number | null = null
  let usage = noUsage
  let end: TurnEnded | null = null

  return {
    /** The text of the last step that has any. */
    get text() {
      return texts.join('\n\n')
    },
    get usage() {
      return usage
    },
    get end(): TurnEnded | null {
      return end
    },

    add({ seq, commandId, event }: Recorded): void {
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
