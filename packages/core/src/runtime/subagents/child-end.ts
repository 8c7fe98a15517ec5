import { type ChildOutcome, limits, type SessionId, type TurnEnd } from '@holdfast/protocol'
import type { Blobs } from '../../ports/store/blobs.ts'
import type { Log } from '../../ports/store/log.ts'
import type { ChildEnd } from '../../session/input.ts'
import { askedCalls, openCalls, type SessionState } from '../../session/state.ts'
import { storeOutput } from '../blobs/store-output.ts'
import { readChildFiles } from './child-files.ts'

const outcomes: Readonly<Record<TurnEnd, ChildOutcome>> = {
  done: 'completed',
  failed: 'failed',
  aborted: 'aborted',
  interrupted: 'interrupted',
  limit: 'over_budget',
}

/**
 * Returns how the work of a subagent ended; null while it goes on. It goes on after a complete turn if results of its own
 * subagents are still to come.
 */
export function outcomeOf({ turn, children, queue }: SessionState): ChildOutcome | null {
  if (turn.phase !== 'idle' || turn.last === null) return null
  const { reason } = turn.last
  const hasMore = children.length > 0 || queue.some((entry) => entry.queue === 'follow_up')
  return reason === 'done' && hasMore ? null : outcomes[reason]
}

/** Whether a call of the session, or of a subagent that a call of it waits for, waits for an approval. */
export const isAsking = (state: SessionState, isChildAsking: (child: SessionId) => boolean): boolean =>
  askedCalls(state).length > 0 ||
  openCalls(state).some((call) => state.children.some((one) => one.call === call.id && isChildAsking(one.session)))

/** Where a subagent is stored. */
export type ChildStore = { readonly log: Pick<Log, 'read'>; readonly blobs: Pick<Blobs, 'put'> }

/** Returns the end of a subagent's work with what it said last and what it changed. A failure is never told as a finding. */
export async function readEnd(
  { log, blobs }: ChildStore,
  id: SessionId,
  state: SessionState,
  status: ChildOutcome,
): Promise<ChildEnd> {
  const [said, files] = await Promise.all([readLastWords(log, id, state), readChildFiles(log, id, state)])
  const text = status === 'completed' ? (said ?? saidNothing) : [explain(state, status), lastWords(said)].join('\n\n')
  return { status, output: await bounded(blobs, text), handle: state.origin?.handle ?? null, files }
}

const saidNothing = 'The subagent ended its work without saying anything.'

const lastWords = (said: string | null): string =>
  said === null ? 'It said nothing before.' : `What it said before, which is not a result:\n${said}`

function explain({ turn }: SessionState, status: Exclude<ChildOutcome, 'completed'>): string {
  const fault = turn.phase === 'idle' ? turn.last?.fault : undefined
  switch (status) {
    case 'failed':
      return `The subagent failed: ${fault?.message ?? 'its model call failed.'}`
    case 'aborted':
      return 'The subagent was stopped. Do not start it again unless a person asks for it.'
    case 'interrupted':
      return 'The subagent was interrupted before it was done: its process ended. It does not go on by itself.'
    case 'over_budget':
      return 'The subagent stopped at a limit of steps, tokens or cost before it was done.'
  }
}

/** Returns the end of a subagent that never began, or that cannot be read. */
export const unknownEnd = (status: ChildOutcome, text: string): ChildEnd => ({
  status,
  output: { text },
  handle: null,
})

async function readLastWords(log: ChildStore['log'], id: SessionId, state: SessionState): Promise<string | null> {
  if (state.lastAnswer === null) return null
  const { message } = state.lastAnswer
  const [record] = await log.read(id, { after: message - 1, upTo: message, limit: 1 })
  const text = record && !('lost' in record) && record.event.type === 'text.said' ? record.event.text.trim() : ''
  return text === '' ? null : text
}

/** Keeps the head and the tail of a long text; the whole of it is a blob. */
async function bounded(blobs: ChildStore['blobs'], text: string): Promise<ChildEnd['output']> {
  const bytes = Buffer.from(text)
  if (bytes.length <= limits.childResultBytesMax) return { text }
  return storeOutput(blobs, [bytes], undefined, undefined, limits.childResultBytesMax)
}
