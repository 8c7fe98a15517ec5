import {
  type Command,
  type Content,
  type Event,
  type Fault,
  fault,
  limits,
  ok,
  type Queue,
  type QueueEntry,
  type Result,
  refuse,
} from '@holdfast/protocol'
import type { SessionState } from '../state.ts'

type CommandOf<Type extends Command['type']> = Extract<Command, { type: Type }>

/** Queues a prompt: to steer the running turn, or to follow it. */
export function enqueue(state: SessionState, queue: Queue, content: Content): Result<readonly Event[]> {
  if (state.queue.length >= limits.promptsQueuedMax) {
    return refuse(fault('queue_full', `${limits.promptsQueuedMax} prompts already wait. Let the turn take some first.`))
  }
  return ok([{ type: 'prompt.queued', queue, content }])
}

/** Removes the waiting prompts of some queues. */
export function recallQueues(state: SessionState, which: readonly Queue[], recalled: boolean): readonly Event[] {
  const entries = state.queue.filter(({ queue }) => which.includes(queue))
  return entries.length === 0 ? [] : [{ type: 'queue.removed', entries, recalled }]
}

export function editEntry(
  state: SessionState,
  { entry, content }: CommandOf<'editQueueEntry'>,
): Result<readonly Event[]> {
  if (isEmpty(content)) return refuse(emptyPrompt)
  if (!findEntry(state, entry)) return refuse(notWaiting(entry))
  return ok([{ type: 'queue.edited', entry, content }])
}

export function removeEntry(state: SessionState, { entry }: CommandOf<'removeQueueEntry'>): Result<readonly Event[]> {
  const found = findEntry(state, entry)
  return found ? ok([{ type: 'queue.removed', entries: [found], recalled: true }]) : refuse(notWaiting(entry))
}

/** Reorders a queue. The order must name every waiting prompt once, so that none added meanwhile is lost. */
export function reorder(state: SessionState, { queue, entries }: CommandOf<'reorderQueue'>): Result<readonly Event[]> {
  const waiting = state.queue.filter((one) => one.queue === queue).map(({ id }) => id)
  const stranger = entries.find((id) => !waiting.includes(id))
  if (stranger !== undefined) return refuse(notWaiting(stranger))
  if (new Set(entries).size !== waiting.length || entries.length !== waiting.length) {
    return refuse(fault('bad_request', 'The new order must name every prompt that waits, once.', { waiting }))
  }
  return ok(entries.every((id, index) => id === waiting[index]) ? [] : [{ type: 'queue.reordered', queue, entries }])
}

const findEntry = ({ queue }: SessionState, id: number): QueueEntry | undefined => queue.find((one) => one.id === id)

const notWaiting = (entry: number): Fault =>
  fault('queue_entry_not_found', `Prompt ${entry} does not wait: it was sent, or taken back.`, { entry })

/** Whether a prompt has neither text nor file. */
export const isEmpty = (content: Content): boolean =>
  !content.some((part) => part.type === 'file' || part.text.trim() !== '')

export const emptyPrompt = fault('empty_prompt', 'The prompt is empty. Write something, or attach a file.')
