import {
  type ChildView,
  type Frame,
  limits,
  type Recorded,
  type SessionId,
  type SubscribeOptions,
} from '@holdfast/protocol'
import type { Log } from '../../ports/store/log.ts'
import type { SessionRunner } from '../runner/session-runner.ts'
import type { AttachedClient } from '../stream/driver-control.ts'
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
      for await (const record of replay(log, sessionId, after, seq)) yield { type: 'record', sessionId, record }
      yield storage // a snapshot carries these, a cursor does not
      yield model
      for (const view of children()) yield { type: 'child', sessionId, child: view.id, view }
    }
    if (draft) yield draft
  }
}

/** A client that does not read holds one page. */
const replayCharsMax = 256 * 1024

/** Reads the records between a client's cursor and the head it joined at, page by page. */
async function* replay(log: Past['log'], id: SessionId, after: number, upTo: number): AsyncGenerator<Recorded> {
  for (let cursor = after; cursor < upTo; ) {
    const page = await log.read(id, {
      ...{ after: cursor, upTo },
      ...{ limit: limits.pageRecordsMax, charsMax: replayCharsMax },
    })
    for (const record of page) {
      cursor = record.seq
      if (!('lost' in record)) yield record
    }
    if (page.length === 0) return
  }
}
