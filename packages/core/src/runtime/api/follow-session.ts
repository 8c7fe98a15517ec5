import {
  type ChildView,
  type Frame,
  HoldfastError,
  limits,
  type Seq,
  type SessionId,
  type SubscribeOptions,
} from '@holdfast/protocol'
import type { Catalogue } from '../../ports/store/catalogue.ts'
import type { Log } from '../../ports/store/log.ts'
import { retryMs } from '../runner/handle-input.ts'
import type { SessionRunner } from '../runner/session-runner.ts'
import { storageErrorOf } from '../storage-health.ts'
import type { AttachedClient } from '../stream/driver-control.ts'
import type { ReplayedPage } from '../stream/shared-pages.ts'
import type { SessionReader } from './session-reader.ts'

type Past = Pick<SessionReader, 'snapshotOf'> & {
  readonly log: Pick<Log, 'read'> & Pick<Catalogue, 'entry'>
  /** The subagents that ran here below the session. */
  readonly children: () => readonly ChildView[]
  /** Gives up sessions that other processes took over. */
  readonly dropLost: () => Promise<unknown>
}

/** Yields the past of a session, then its frames from now on. Subscribes before it reads the past, so that no record is missed or sent twice. */
export async function* followSession(
  { id: sessionId, hub, folded }: SessionRunner,
  { after, signal, ...who }: Pick<SubscribeOptions, 'after' | 'signal'> & AttachedClient,
  { snapshotOf, log, children, dropLost }: Past,
): AsyncGenerator<AsyncIterable<Frame>, void> {
  const { subscription, draft, storage, model, leave } = hub.join(who)
  const joined = folded()
  const { seq } = joined.state
  signal?.addEventListener('abort', leave, { once: true })
  if (signal?.aborted) leave()
  let hasFailed = false
  try {
    yield past()
    if (!hasFailed) yield subscription
  } finally {
    signal?.removeEventListener('abort', leave)
    leave()
  }

  /** Yields the past. If the store cannot be read, or knows more than this process, the stream ends, to be followed again. */
  async function* past(): AsyncGenerator<Frame> {
    try {
      const isBehind = after !== undefined && after > seq && ((await log.entry(sessionId))?.head ?? 0) >= after
      if (!isBehind) return yield* known()
      hasFailed = true
      await dropLost() // this one would lead the reader back
    } catch (cause) {
      const error = cause instanceof HoldfastError ? storageErrorOf(cause.toFault()) : null
      if (error === null) throw cause
      hasFailed = true
      yield { type: 'storage', sessionId, error }
    }
    yield { type: 'end', sessionId, reason: 'failed', retryMs }
  }

  async function* known(): AsyncGenerator<Frame> {
    if (after !== undefined && after > seq) {
      yield { type: 'resync', sessionId, reason: `there is no record ${after} yet` }
    }
    if (after === undefined || after > seq) yield await snapshotOf(joined)
    else {
      yield* replay(after, seq)
      yield storage // a snapshot carries these, a cursor does not
      yield model
      for (const view of children()) yield { type: 'child', sessionId, child: view.id, view }
    }
    if (draft) yield draft
  }

  /** Yields the records between a client's cursor and the head it joined at, page by page. */
  async function* replay(from: Seq, upTo: Seq): AsyncGenerator<Frame> {
    for (let cursor = from; cursor < upTo; ) {
      const { frames, last } = await hub.sharePage(cursor, upTo, () => readPage(log, sessionId, cursor, upTo))
      yield* frames
      if (last === null) return
      cursor = last
    }
  }
}

/** A client that does not read holds one page. */
const replayCharsMax = 256 * 1024

async function readPage(log: Past['log'], sessionId: SessionId, after: Seq, upTo: Seq): Promise<ReplayedPage> {
  const range = { after, upTo, limit: limits.pageRecordsMax, charsMax: replayCharsMax }
  const page = await log.read(sessionId, range)
  const frames = page.flatMap((record) => ('lost' in record ? [] : [{ type: 'record' as const, sessionId, record }]))
  return { frames, last: page.at(-1)?.seq ?? null }
}
