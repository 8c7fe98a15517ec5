import {
  type ClientId,
  type Frame,
  type FrameOf,
  orThrow,
  parseSubscribeOptions,
  type Role,
  type Seq,
  type SubscribeOptions,
} from '@holdfast/protocol'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { retryMs } from '../runner/handle-input.ts'
import { joinStreams } from '../stream/join-streams.ts'
import { attachedClient, type CallerOptions, splitCaller } from './caller.ts'
import type { LocalSession } from './own-session.ts'
import { lookUpsMax, noSignal, pauseBefore } from './relocation.ts'

/** Follows a session wherever it runs: when its owner changes, the stream goes on at its cursor, without a gap or a repeat. */
export function followAnywhere(
  registry: SessionRegistry,
  own: LocalSession,
  given: SubscribeOptions & CallerOptions,
): AsyncIterable<Frame> {
  const { id } = own
  const { deps, owners } = registry
  let note: (frame: Frame) => void = () => undefined
  let lookUp = 0
  /** How the stream before ended: the reader gets it only if the session did not move. */
  let ended: FrameOf<'end'> | null = null
  let isLast = false
  return joinStreams(streams(), (frame) => {
    if (frame.type === 'end' && !isLast) {
      ended = frame
      return 'leave'
    }
    lookUp = 0
    note(frame)
    return 'pass'
  })

  async function* streams(): AsyncGenerator<AsyncIterable<Frame>, void> {
    const { caller, options } = splitCaller(given)
    const { signal = noSignal, ...asked } = orThrow(parseSubscribeOptions(options))
    const { authority } = attachedClient(asked, caller)
    const place = createPlace(asked)
    note = place.note
    for (; ; lookUp++) {
      const owner = registry.loaded(id) ? null : await owners.find(id)
      const where = { client: asked.client, children: asked.children, ...place.now() }
      ended = null
      yield owner
        ? owner.follow({ ...where, session: id, caller: authority }, signal)
        : own.subscribe({ ...where, caller: authority, signal })
      const end = ended as FrameOf<'end'> | null // set while the stream was read
      const isMoved = owner ? end?.reason !== 'stopped' : end !== null && (await isElsewhere(end))
      if (!isMoved) return end === null ? undefined : yield last(end)
      if (signal.aborted) return
      if (registry.closedFault()) return yield last({ type: 'end', sessionId: id, reason: 'closing', retryMs })
      // Takes the session over if its owner is dead.
      const loaded = owner ? await registry.load(id) : null
      if (lookUp < lookUpsMax || loaded?.ok) await pauseBefore(deps.clock, lookUp, signal)
      else return yield last({ type: 'end', sessionId: id, reason: 'failed', retryMs })
    }
  }

  async function* last(frame: FrameOf<'end'>): AsyncGenerator<Frame> {
    isLast = true
    yield frame
  }

  /** Returns whether the stream ended here because another process owns the session now. */
  async function isElsewhere({ reason }: FrameOf<'end'>): Promise<boolean> {
    return reason === 'failed' && !registry.closedFault() && (await owners.find(id)) !== null
  }
}

/** Keeps where a stream is: the last record, and the role of its client, which the next owner gives it again. */
function createPlace(asked: {
  readonly after?: Seq | undefined
  readonly client?: ClientId | undefined
  readonly role?: Role | undefined
}) {
  let { after, role } = asked
  return {
    now: () => ({ after, role }),
    note(frame: Frame): void {
      if (frame.type === 'snapshot') after = frame.seq
      if (frame.type === 'record') after = frame.record.seq
      const clients = frame.type === 'presence' ? frame.clients : frame.type === 'snapshot' ? frame.here?.clients : []
      role = clients?.find(({ client }) => client === asked.client)?.role ?? role
    },
  }
}
