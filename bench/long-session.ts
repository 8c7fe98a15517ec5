import type { Store } from '@holdfast/core/ports'
import { type Event, Handle, type SessionId, StepId, TurnNumber } from '@holdfast/protocol'
import { encodeRecords } from '../packages/core/src/runtime/log/encode-append.ts'
import { type Folded, fold } from '../packages/core/src/runtime/log/load-session.ts'
import { newSessionId } from '../packages/holdfast/src/system/identity.ts'

const batchRecords = 500
const owner = 'bench'
const sentence = 'the tide turns and the harbour holds what the sea would take '.repeat(8)

/** Messages after the checkpoint: the same for every length, so that only the history differs. */
export const messagesSinceCheckpoint = 10

/** Writes a session of `messages` messages, compacted shortly before its end, and releases its lease. */
export async function writeLongSession(
  store: Store,
  workdir: string,
  messages: number,
  number: number,
): Promise<SessionId> {
  const id = newSessionId()
  let folded: Folded | null = null
  let waiting: Event[] = [startedEvent(workdir, number)]
  const flush = async () => {
    const after: number = folded?.state.seq ?? 0
    const records = encodeRecords({ after, atMs: Date.now(), events: waiting, commandId: null, by: null })
    const isNew = folded === null
    for (const { record } of records) folded = fold(folded, id, record)
    if (!folded) throw new Error('a session begins with a record')
    const { entry } = folded.row
    const done = isNew
      ? await store.create({ session: id, parent: null, base: 0, owner, records, entry, blobs: [] })
      : await store.append({ session: id, after, epoch: 1, records, entry, clearDraft: false, blobs: [], trust: [] })
    if (!done.ok) throw new Error(done.fault.message)
    waiting = []
  }
  await flush()
  for (let message = 0; message < messages; message += 2) {
    const turn = TurnNumber.parse(message / 2)
    const seq = (folded as Folded | null)?.state.seq ?? 0
    const at = seq + waiting.length
    if (message === Math.max(0, messages - messagesSinceCheckpoint)) {
      waiting.push({
        type: 'checkpoint.written',
        turn,
        summary: sentence,
        keepFrom: at + 2,
        tokensBefore: 1000,
        tokensAfter: 100,
        why: 'made',
      })
    }
    const step = StepId.parse(seq + waiting.length + 3)
    waiting.push(
      { type: 'turn.started', turn, cause: 'prompt' },
      { type: 'user.said', turn, content: [{ type: 'text', text: `${message} ${sentence}` }] },
      { type: 'step.started', turn, model: 'demo/agent', thinkingLevel: 'off', attempt: 1 },
      { type: 'text.said', turn, step, text: `${message + 1} ${sentence}`, provider: 'demo' },
      {
        type: 'step.ended',
        turn,
        step,
        finish: 'stop',
        usage: { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, cost: 0 },
      },
      { type: 'turn.ended', turn, reason: 'done' },
    )
    if (waiting.length >= batchRecords) await flush()
  }
  if (waiting.length > 0) await flush()
  await store.release(id, owner, 1)
  return id
}

const startedEvent = (workdir: string, number: number): Event => ({
  type: 'session.started',
  handle: Handle.parse(`long-bench-${number}`),
  workdir,
  settings: { model: 'demo/agent', thinkingLevel: 'off', mode: 'exec', budgets: {} },
})
