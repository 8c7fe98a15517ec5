import type { Store } from '@holdfast/core/ports'
import { type Event, Handle, orThrow, type SessionId, StepId, TurnNumber } from '@holdfast/protocol'
import { encodeRecords } from '../packages/core/src/runtime/log/encode-append.ts'
import { type Folded, fold } from '../packages/core/src/runtime/log/load-session.ts'
import { newSessionId } from '../packages/holdfast/src/system/identity.ts'

const owner = 'bench'
const batchRecords = 600

export type SessionToWrite = {
  /** Makes its handle unique. */
  readonly number: number
  readonly workdir: string
  readonly atMs: number
  /** Texts of the messages, alternating between user and model. */
  readonly texts: readonly string[]
}

/** Writes a session as the runtime does, but in a few batches, and releases its lease. */
export async function writeSession(store: Store, { number, workdir, atMs, texts }: SessionToWrite): Promise<SessionId> {
  const id = newSessionId()
  let folded: Folded | null = null
  const write = async (events: readonly Event[]) => {
    const after: number = folded?.state.seq ?? 0
    const records = encodeRecords({ after, atMs, events, commandId: null, by: null })
    for (const { record } of records) folded = fold(folded, id, record)
    if (!folded) throw new Error('a session begins with a record')
    const { entry } = folded.row
    const same = { session: id, records, entry, blobs: [] }
    if (after === 0) orThrow(await store.create({ ...same, parent: null, base: 0, owner }))
    else orThrow(await store.append({ ...same, after, epoch: 1, clearDraft: false, trust: [] }))
  }
  await write([startedEvent(workdir, number)])
  let waiting: Event[] = []
  let head = 1
  for (let first = 0; first < texts.length; first += 2) {
    waiting.push(...turnEvents(first / 2, head + waiting.length, texts[first] ?? '', texts[first + 1] ?? ''))
    if (waiting.length < batchRecords && first + 2 < texts.length) continue
    await write(waiting)
    head += waiting.length
    waiting = []
  }
  await store.release(id, owner, 1)
  return id
}

function turnEvents(number: number, head: number, asked: string, answered: string): readonly Event[] {
  const turn = TurnNumber.parse(number)
  const step = StepId.parse(head + 3)
  const usage = { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, cost: 0 }
  return [
    { type: 'turn.started', turn, cause: 'prompt' },
    { type: 'user.said', turn, content: [{ type: 'text', text: asked }] },
    { type: 'step.started', turn, model: 'demo/agent', thinkingLevel: 'off', attempt: 1 },
    { type: 'text.said', turn, step, text: answered, provider: 'demo' },
    { type: 'step.ended', turn, step, finish: 'stop', usage },
    { type: 'turn.ended', turn, reason: 'done' },
  ]
}

const startedEvent = (workdir: string, number: number): Event => ({
  type: 'session.started',
  handle: Handle.parse(`bench-session-${number}`),
  workdir,
  settings: { model: 'demo/agent', thinkingLevel: 'off', mode: 'exec', budgets: {} },
})
