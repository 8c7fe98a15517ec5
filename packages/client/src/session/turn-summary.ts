import { type EventOf, noUsage, type Queue, type Recorded, usageAfter } from '@holdfast/protocol'

/** The event that ends a turn. */
export type TurnEnded = EventOf<'turn.ended'>

/** The turn of one command: its answer, its usage and how it ended. */
export type TurnSummary = ReturnType<typeof createTurnSummary>

/**
 * Collects the summary from records. `isFirst` recognizes the first record of the command that asked for the turn. The
 * turn of a queued prompt is the one that takes it from the queue. If a turn before it is cut short, nothing starts by
 * itself: the prompt stays in its queue, and its turn ends with that one. `running` is the turn that a command goes on with.
 */
export function createTurnSummary(isFirst: (record: Recorded) => boolean, running: number | null = null) {
  let entry: number | null = null
  let queue: Queue | null = null
  let isRemoved = false
  let turn = running
  let texts: readonly string[] = []
  let step: number | null = null
  let usage = noUsage
  let hasCalls = false
  let isComplete = false
  let isAnswered = false
  let end: TurnEnded | null = null

  return {
    /** The number of the turn; null while the prompt waits in a queue. */
    get turn() {
      return turn
    },
    /** The queue in which the prompt waits; null once it is sent. */
    get queue() {
      return turn === null ? queue : null
    },
    /** Whether the prompt was removed from its queue, so that it gets no turn. */
    get isRemoved() {
      return isRemoved
    },
    /** Whether another prompt joined the turn after the answer to this one. What follows is not added to the text. */
    get isAnswered() {
      return isAnswered
    },
    /** The text of the last step that has any. */
    get text() {
      return texts.join('\n\n')
    },
    /** Usage of the model calls so far. */
    get usage() {
      return usage
    },
    /** The end of the turn, or of the one that the prompt waited for in vain; null while it runs. */
    get end(): TurnEnded | null {
      return end
    },

    /** Adds the next record of the turn. */
    add(record: Recorded): void {
      const { seq, event } = record
      if (isFirst(record)) {
        if (event.type === 'prompt.queued') {
          entry = seq
          queue = event.queue
        }
        if (event.type === 'turn.started') turn = event.turn
      }
      if (entry !== null && event.type === 'queue.removed' && event.entries.some(({ id }) => id === entry))
        isRemoved = true
      if (entry !== null && event.type === 'user.said' && event.entry === entry) turn = event.turn
      if (entry !== null && turn === null && event.type === 'turn.ended' && event.reason !== 'done') end ??= event
      if (turn === null || !('turn' in event) || event.turn !== turn) return
      if (event.type === 'turn.ended') end = event
      if (event.type === 'user.said' && isComplete) isAnswered = true
      if (isAnswered) return
      if (event.type === 'step.started') hasCalls = isComplete = false
      if (event.type === 'call.requested') hasCalls = true
      if (event.type === 'text.said') {
        texts = event.step === step ? [...texts, event.text] : [event.text]
        step = event.step
      }
      if (event.type === 'step.ended') {
        usage = usageAfter(usage, event)
        isComplete = !hasCalls && event.finish !== 'failed'
      }
    },
  }
}
