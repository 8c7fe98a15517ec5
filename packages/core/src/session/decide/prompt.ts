import {
  type Content,
  type EntryId,
  type Event,
  type EventOf,
  type Fault,
  fault,
  limits,
  localPayer,
  noWorkdir,
  ok,
  type Payer,
  type Queue,
  type QueueEntry,
  refuse,
  TurnNumber,
  type TypedPrompt,
  type Usage,
} from '@holdfast/protocol'
import type { Facts } from '../facts.ts'
import type { CommandOf, Decided, Events, ReportOf } from '../input.ts'
import type { SessionState } from '../state.ts'
import { hooksRan } from './hook.ts'
import { turnNow } from './message.ts'

/** Starts a turn when idle; otherwise queues the prompt. */
export function sendPrompt(state: SessionState, sent: SentPrompt, facts: Facts): Decided {
  const { expanded, hooks } = facts
  if (expanded && 'note' in expanded) return ok([answerPeople(state, expanded)])
  const { content, queue, payer } = sent
  const prompt = { ...(expanded ?? { content }), ...contextOf(hooks) }
  if (isEmpty(prompt.content)) return refuse(emptyPrompt)
  if (state.turn.phase !== 'idle') return enqueue(state, queue, { ...prompt, ...paidBy(payer) }, hooks)
  const barred = findBar(state) ?? facts.capped
  if (barred) return refuse(barred)
  const turn = TurnNumber.parse(state.turns)
  const ran = hooksRan(state, hooks?.runs).map((event) => ({ ...event, turn }))
  return ok([{ type: 'turn.started', turn, cause: 'prompt', ...paidBy(payer) }, ...say(turn, prompt), ...ran])
}

type SentPrompt = { readonly content: Content; readonly queue: Queue; readonly payer: Payer }

/** Returns the payer as events have it. */
export const paidBy = (payer: Payer) => (payer === localPayer ? {} : { payer })

/** Returns what hooks add to a prompt. */
const contextOf = (hooks: Facts['hooks']) => (hooks && hooks.context !== null ? { context: hooks.context } : {})

/** Answers a slash command with a message for people. Its code names the command, for the answer to a retry. */
const answerPeople = (
  state: SessionState,
  { note, name }: { readonly note: string; readonly name: string },
): Event => ({
  type: 'note.added',
  turn: turnNow(state),
  kind: 'system',
  level: 'info',
  code: `/${name}`,
  text: note,
})

/** Returns the events of a prompt that enters a turn. The session follows a skill whose text the prompt has. */
export function say(turn: TurnNumber, prompt: Prompt & { readonly id?: EntryId }): Events {
  const { content, typed, skill, context, child, id } = prompt
  const said: EventOf<'user.said'> = {
    type: 'user.said',
    turn,
    content,
    ...(id !== undefined && { entry: id }),
    ...(typed !== undefined && { typed }),
    ...(context !== undefined && { context }),
    ...(child && { child }),
  }
  return skill ? [said, { type: 'skill.activated', ...skill, by: 'person', inConversation: true }] : [said]
}

type Prompt = { readonly content: Content } & TypedPrompt

/** Continues an interrupted turn under the same number. */
export function continueTurn(state: SessionState, payer: Payer, { capped }: Facts): Decided {
  const { turn } = state
  if (turn.phase !== 'idle') return refuse(turnRunning)
  if (turn.last === null || turn.last.reason === 'done') {
    const waiting = nextFollowUps(state)
    if (waiting.length > 0) return startFollowUps(state, waiting, capped)
    return refuse(
      fault(
        'nothing_to_continue',
        'The last turn is complete, so there is nothing to continue. Send a prompt instead.',
      ),
    )
  }
  const barred = findBar(state) ?? capped
  if (barred) return refuse(barred)
  return ok([{ type: 'turn.started', turn: turn.last.number, cause: 'continue', ...paidBy(payer) }])
}

/** Starts a turn with follow-ups that wait although the last turn is complete: results of subagents after a restart. */
function startFollowUps(state: SessionState, entries: readonly QueueEntry[], capped: Facts['capped']): Decided {
  const barred = findBar(state) ?? capped
  return barred ? refuse(barred) : ok(followUp(state, entries))
}

/** Starts a turn with waiting follow-ups. The sender of the first one pays; for results of subagents, the payer of the last turn. */
export function followUp(state: SessionState, entries: readonly QueueEntry[]): Events {
  const turn = TurnNumber.parse(state.turns)
  const [first] = entries
  const payer = first?.child ? state.payer : (first?.payer ?? localPayer)
  const started: Event = { type: 'turn.started', turn, cause: 'follow_up', ...paidBy(payer) }
  return [started, ...entries.flatMap((entry) => say(turn, entry))]
}

/** Returns the prompts of the next turn: the oldest follow-up, and with the result of a subagent all other results. */
export function nextFollowUps({ queue }: SessionState): readonly QueueEntry[] {
  const waiting = queue.filter((entry) => entry.queue === 'follow_up')
  const [next] = waiting
  if (!next?.child) return next ? [next] : []
  return waiting.filter(({ child }) => child)
}

/** Whether a turn may start now. */
export const nothingBars = (state: SessionState): boolean => findBar(state) === null

/** Returns why no turn may start. */
const findBar = (state: SessionState): Fault | null =>
  state.origin?.workdir === noWorkdir ? workdirNeeded : overBudget(state)

export const workdirNeeded = fault('workdir_needed', 'This session has no folder to work in. Give it one first.')

export const turnRunning = fault('turn_running', 'A turn is running. Wait for it, or abort it.')

/** Queues a prompt: to steer the running turn, or to follow it. */
function enqueue(state: SessionState, queue: Queue, prompt: Prompt, hooks: Facts['hooks']): Decided {
  if (state.queue.length >= limits.promptsQueuedMax) {
    return refuse(
      fault(
        'queue_full',
        `The queue is full (${limits.promptsQueuedMax} prompts). Wait until the turn takes one, or remove one.`,
      ),
    )
  }
  if (charsOf(prompt) + queuedChars(state) > limits.promptsQueuedCharsMax) return refuse(queueTooLong)
  return ok([{ type: 'prompt.queued', queue, ...prompt }, ...hooksRan(state, hooks?.runs)])
}

const charsOf = ({ content, context = '' }: Prompt): number =>
  content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), context.length)

const queuedChars = ({ queue }: SessionState): number => queue.reduce((sum, entry) => sum + charsOf(entry), 0)

const queueTooLong = fault(
  'queue_full',
  `The queued prompts may have ${limits.promptsQueuedCharsMax} characters together. Wait until the turn takes one, or remove one.`,
)

/** Removes the waiting prompts of some queues. */
export function recallQueues(state: SessionState, which: readonly Queue[], recalled: boolean): Events {
  const entries = state.queue.filter(({ queue }) => which.includes(queue))
  return entries.length === 0 ? [] : [{ type: 'queue.removed', entries, recalled }]
}

export function editEntry(
  state: SessionState,
  { entry, content: sent, payer }: CommandOf<'editQueueEntry'> & { readonly payer: Payer },
  { expanded, hooks }: Facts,
): Decided {
  if (expanded && 'note' in expanded) return refuse(noPrompt)
  const prompt = { ...(expanded ?? { content: sent }), ...contextOf(hooks), ...paidBy(payer) }
  if (isEmpty(prompt.content)) return refuse(emptyPrompt)
  const found = findEntry(state, entry)
  if (!found) return refuse(notWaiting(entry))
  const chars = queuedChars(state) - charsOf(found) + charsOf(prompt)
  if (chars > limits.promptsQueuedCharsMax) return refuse(queueTooLong)
  return ok([{ type: 'queue.edited', entry, ...prompt }, ...hooksRan(state, hooks?.runs)])
}

export function removeEntry(state: SessionState, { entry }: CommandOf<'removeQueueEntry'>): Decided {
  const found = findEntry(state, entry)
  return found ? ok([{ type: 'queue.removed', entries: [found], recalled: true }]) : refuse(notWaiting(entry))
}

/** Reorders a queue. The order must name every waiting prompt once, so that none added meanwhile is lost. */
export function reorder(state: SessionState, { queue, entries }: CommandOf<'reorderQueue'>): Decided {
  const waiting = state.queue.filter((one) => one.queue === queue).map(({ id }) => id)
  const unknown = entries.find((id) => !waiting.includes(id))
  if (unknown !== undefined) return refuse(notWaiting(unknown))
  if (new Set(entries).size !== waiting.length || entries.length !== waiting.length) {
    return refuse(fault('bad_request', 'The new order must name every waiting prompt exactly once.', { waiting }))
  }
  return ok(entries.every((id, index) => id === waiting[index]) ? [] : [{ type: 'queue.reordered', queue, entries }])
}

const findEntry = ({ queue }: SessionState, id: number): QueueEntry | undefined => queue.find((one) => one.id === id)

const notWaiting = (entry: number): Fault =>
  fault('queue_entry_not_found', `Prompt ${entry} is not in the queue: it was sent or removed.`, { entry })

/** Whether a prompt has neither text nor file. */
const isEmpty = (content: Content): boolean => !content.some((part) => part.type === 'file' || part.text.trim() !== '')

const noPrompt = fault('bad_request', 'This slash command answers at once; it cannot wait in a queue.')

const emptyPrompt = fault('empty_prompt', 'The prompt is empty. Write something, or attach a file.')

type Limit = { readonly code: string; readonly text: string }
/** The budgets of a session, and what it has used. */
type Spent = { readonly settings: Pick<SessionState['settings'], 'budgets'>; readonly used: Usage }

/** Returns the budget that the next model call would exceed, or null. A turn stops between calls, never within one. */
export function limitReached(state: Spent, steps: number, tree?: ReportOf<'step.prepared'>['tree']): Limit | null {
  const { maxSteps = limits.stepsPerTurnMax } = state.settings.budgets
  if (steps < maxSteps)
    return budgetUsedUp(state) ?? (tree ? budgetUsedUp({ settings: { budgets: tree.budgets }, used: tree.used }) : null)
  return { code: 'step_limit', text: `The turn has made ${steps} model calls, which is its limit. Continue to go on.` }
}

/** Returns the session budget that is used up, or null. */
function budgetUsedUp({ settings, used }: Spent): Limit | null {
  const { maxTokens, maxCost } = settings.budgets
  const tokens = used.input + used.output + used.cacheRead + used.cacheWrite
  if (maxTokens !== undefined && tokens >= maxTokens) {
    return { code: 'token_limit', text: `The session has used ${tokens} tokens of ${maxTokens}.` }
  }
  if (maxCost !== undefined && used.cost !== null && used.cost >= maxCost) {
    return { code: 'cost_limit', text: `The session has cost ${used.cost.toFixed(4)} of ${maxCost}.` }
  }
  return null
}

/** Returns a fault if no turn may begin because a budget is used up. */
export function overBudget(state: Spent): Fault | null {
  const spent = budgetUsedUp(state)
  return spent && fault('over_budget', `${spent.text} Raise the budget to go on.`, { limit: spent.code })
}
