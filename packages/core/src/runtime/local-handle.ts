import { randomUUID } from 'node:crypto'
import {
  type Answer,
  Command,
  type CommandId,
  CommandId as CommandIdSchema,
  type CommandInput,
  explainIssue,
  type Frame,
  type FrameOf,
  fault,
  limits,
  type Meta,
  ok,
  type PageRequest,
  type Recorded,
  type Result,
  refuse,
  type SessionHandle,
  type SessionId,
  type SubmitOptions,
  type SubscribeOptions,
  type TranscriptPage,
} from '@holdfast/protocol'
import { viewOf } from '../session/view.ts'
import { type Folded, loadSession } from './load-session.ts'
import { readPage } from './read-page.ts'
import type { Roster } from './roster.ts'
import type { SessionRunner } from './session-runner.ts'

/** The handle on a session of this process. Reading does not wake it; commanding and subscribing do. */
export function createLocalHandle(roster: Roster, id: SessionId): SessionHandle {
  const { store } = roster.parts

  /** Where the session stands, awake or not. */
  async function folded(): Promise<Result<Folded>> {
    const runner = roster.awake(id)
    return runner ? ok(runner.folded()) : loadSession(store, id)
  }

  /** How many are watching is not on record: only the process that runs the session knows. */
  const attended = (meta: Meta): Meta => ({ ...meta, attachments: roster.awake(id)?.hub.size ?? 0 })

  async function snapshotOf({ state, row }: Folded): Promise<FrameOf<'snapshot'>> {
    const { messages, before } = await readPage(store, id, state.line, state.seq, { limit: limits.snapshotMessages })
    return {
      type: 'snapshot',
      sessionId: id,
      seq: state.seq,
      meta: attended(row.entry.meta),
      view: viewOf(state),
      messages: [...messages],
      before,
    }
  }

  return {
    id,

    async submit(input: CommandInput, { commandId, as }: SubmitOptions = {}): Promise<Result<Answer>> {
      const command = Command.safeParse(input)
      if (!command.success) return refuse(fault('bad_request', `That is no command: ${explainIssue(command.error)}.`))
      const runner = await roster.wake(id)
      if (!runner.ok) return runner
      const named = { commandId: commandId ?? newCommandId(), by: as ?? null, command: command.data }
      return runner.value.submit(named)
    },

    async *subscribe(options: SubscribeOptions = {}): AsyncGenerator<Frame> {
      const woken = await roster.wake(id)
      if (!woken.ok) {
        yield { type: 'end', sessionId: id, reason: 'failed', retryMs: null }
        return
      }
      yield* follow(woken.value, options, snapshotOf, (after, upTo) => replay(after, upTo))
    },

    async snapshot() {
      const now = await folded()
      return now.ok ? ok(await snapshotOf(now.value)) : now
    },

    async page(request: PageRequest = {}): Promise<Result<TranscriptPage>> {
      const now = await folded()
      if (!now.ok) return now
      const { state, row } = now.value
      return ok({ session: attended(row.entry.meta), ...(await readPage(store, id, state.line, state.seq, request)) })
    },
  }

  /** The records between a client's cursor and the head it joined at, page by page. */
  async function* replay(after: number, upTo: number): AsyncGenerator<Recorded> {
    for (let cursor = after; cursor < upTo; ) {
      const page = await store.read(id, { after: cursor, upTo, limit: limits.pageRecordsMax })
      for (const record of page) {
        cursor = record.seq
        if (!('lost' in record)) yield record
      }
      if (page.length === 0) return
    }
  }
}

/** Joins first and reads afterwards, so that between the past and the present nothing is missed and nothing comes twice. */
async function* follow(
  runner: SessionRunner,
  { after, signal }: SubscribeOptions,
  snapshotOf: (folded: Folded) => Promise<FrameOf<'snapshot'>>,
  replay: (after: number, upTo: number) => AsyncIterable<Recorded>,
): AsyncGenerator<Frame> {
  const { id: sessionId } = runner
  const { subscription, draft, leave } = runner.hub.join()
  const joined = runner.folded()
  const { seq } = joined.state
  signal?.addEventListener('abort', leave, { once: true })
  if (signal?.aborted) leave()
  try {
    if (after !== undefined && after > seq) {
      yield { type: 'resync', sessionId, reason: `there is no record ${after} yet` }
    }
    if (after === undefined || after > seq) yield await snapshotOf(joined)
    else for await (const record of replay(after, seq)) yield { type: 'record', sessionId, record }
    if (draft) yield draft
    yield* subscription
  } finally {
    signal?.removeEventListener('abort', leave)
    leave()
  }
}

const newCommandId = (): CommandId => CommandIdSchema.parse(randomUUID())
