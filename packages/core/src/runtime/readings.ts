import {
  type FrameOf,
  type Here,
  limits,
  type Meta,
  ok,
  type PageRequest,
  type Result,
  type SessionHandle,
  type SessionId,
} from '@holdfast/protocol'
import type { SessionState } from '../session/state.ts'
import { viewOf } from '../session/view.ts'
import type { Folded } from './load-session.ts'
import { type LinePage, type LineReader, readPage } from './read-page.ts'

/** The half of a handle that only reads; it wakes nobody. */
export interface Readings extends Pick<SessionHandle, 'snapshot' | 'page'> {
  /** The snapshot of a moment that is already known. */
  snapshotOf(folded: Folded): Promise<FrameOf<'snapshot'>>
}

export type ReadingsParts = {
  readonly id: SessionId
  readonly log: LineReader
  /** Where the session stands. */
  readonly folded: () => Promise<Result<Folded>>
  /** Adds to the metadata what is not on record. */
  readonly tell: (meta: Meta) => Meta
  /** What is not on record, where someone runs the session. */
  readonly here: (state: SessionState) => Promise<Here | null>
}

export function createReadings({ id, log, folded, tell, here }: ReadingsParts): Readings {
  async function pageOf({ state }: Folded, request: PageRequest): Promise<LinePage> {
    const page = await readPage(log, id, state.line, state.seq, request)
    if (state.pins.length === 0) return page
    const pinned = new Set<number>(state.pins)
    return { ...page, messages: page.messages.map((one) => (pinned.has(one.id) ? { ...one, pinned: true } : one)) }
  }

  async function snapshotOf(now: Folded): Promise<FrameOf<'snapshot'>> {
    const { messages, before } = await pageOf(now, { limit: limits.snapshotMessages })
    return {
      type: 'snapshot',
      sessionId: id,
      seq: now.state.seq,
      meta: tell(now.row.entry.meta),
      view: viewOf(now.state),
      messages: [...messages],
      before,
      here: await here(now.state),
    }
  }

  return {
    snapshotOf,
    async snapshot() {
      const now = await folded()
      return now.ok ? ok(await snapshotOf(now.value)) : now
    },
    async page(request = {}) {
      const now = await folded()
      if (!now.ok) return now
      return ok({ session: tell(now.value.row.entry.meta), ...(await pageOf(now.value, request)) })
    },
  }
}
