import { type Content, type Event, fault, limits, ok, type Result, refuse, TurnNumber } from '@holdfast/protocol'
import type { SessionState } from '../state.ts'

/** At rest a prompt begins a turn; in a turn it waits to steer it. */
export function sendPrompt(state: SessionState, content: Content): Result<readonly Event[]> {
  if (!content.some((part) => part.type === 'file' || part.text.trim() !== '')) {
    return refuse(fault('empty_prompt', 'The prompt is empty. Write something, or attach a file.'))
  }
  if (state.turn.phase === 'idle') {
    const turn = TurnNumber.parse(state.turns)
    return ok([
      { type: 'turn.started', turn, cause: 'prompt' },
      { type: 'user.said', turn, content },
    ])
  }
  if (state.queue.length >= limits.promptsQueuedMax) {
    return refuse(fault('queue_full', `${limits.promptsQueuedMax} prompts already wait. Let the turn take some first.`))
  }
  return ok([{ type: 'prompt.queued', queue: 'steering', content }])
}

/** Takes up a turn that was cut short; it keeps its number, because it is the same turn. */
export function continueTurn({ turn }: SessionState): Result<readonly Event[]> {
  if (turn.phase !== 'idle') return refuse(fault('turn_running', 'A turn is running. Wait for it, or abort it.'))
  if (turn.last === null || turn.last.reason === 'done') {
    return refuse(fault('nothing_to_continue', 'The last turn came to its end. Send a prompt instead.'))
  }
  return ok([{ type: 'turn.started', turn: turn.last.number, cause: 'continue' }])
}
