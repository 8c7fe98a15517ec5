import { type ChildView, type Frame, limits, type Seq, type SessionId, type SubscribeOptions } from '@holdfast/protocol'
import type { Log } from '../../ports/store/log.ts'
import type { SessionRunner } from '../runner/session-runner.ts'
import type { AttachedClient } from '../stream/driver-control.ts'
import type { ReplayedPage } from '../stream/shared-pages.ts'
import type { SessionReader } from './session-reader.ts'

type Past = Pick<SessionReader, 'snapshotOf'> & {
  readonly log: Pick<Log, 'read'>
  /** The subagents that ran here below the session. */
  readonly children: () => readonly ChildView[]
}

/** Yields the past of a session, then its frames from now on. Subscribes before it reads the past, so that no record is missed or sent twice. */
export async function* followSession(
  { id: sessionId, hub, folded }: SessionRunner,
  { after, signal, ...who }: Pick<SubscribeOptions, 'after' | 'signal'> & AttachedClient,
  { snapshotOf, log, children }: Past,
): AsyncGenerator<AsyncIterable<Frame>, void> {
  const { subscription, draft, storage, model, leave } = hub.join(who)
  const joined = folded()
  const { seq } = joined.state
  signal?.addEventListener('abort', leave, { once: true })
  if (signal?.aborted) leave()
  try {
    yield past()
    yield subscription
  } finally {
    signal?.removeEventListener('abort', leave)
    leave()
  }

  async function* past(): AsyncGenerator<Frame> {
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
