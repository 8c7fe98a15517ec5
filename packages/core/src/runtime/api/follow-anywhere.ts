import {
  type ClientId,
  type Fault,
  type Frame,
  type FrameOf,
  ok,
  orThrow,
  parseSubscribeOptions,
  type Result,
  type Role,
  type Seq,
  type SubscribeOptions,
} from '@holdfast/protocol'
import type { OtherNode } from '../../ports/other-node.ts'
import { refuseThrown } from '../refuse-thrown.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { retryMs } from '../runner/handle-input.ts'
import { storageErrorOf } from '../storage-health.ts'
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
    const { caller, endsWhenSlow, options } = splitCaller(given)
    const { signal = noSignal, ...asked } = orThrow(parseSubscribeOptions(options))
    const { authority } = attachedClient(asked, caller)
    const place = createPlace(asked)
    note = place.note
    for (; ; lookUp++) {
      const found = await findOwner()
      if (!found.ok) return yield stored(found.fault)
      const owner = found.value
      const where = { client: asked.client, children: asked.children, ...place.now() }
      ended = null
      yield owner
        ? owner.follow({ ...where, session: id, caller: authority }, signal)
        : own.subscribe({ ...where, caller: authority, endsWhenSlow, signal })
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

  /** Finds the other node that runs the session. Refused: storage_error while the store cannot be asked. */
  async function findOwner(): Promise<Result<OtherNode | null>> {
    return registry.loaded(id) ? ok(null) : owners.find(id).then(ok, refuseThrown)
  }

  /** Tells the reader what is wrong with the store, and when to follow again. */
  async function* stored(fault: Fault): AsyncGenerator<Frame> {
    const error = storageErrorOf(fault)
    if (error) yield { type: 'storage', sessionId: id, error }
    yield* last({ type: 'end', sessionId: id, reason: 'failed', retryMs })
  }

  async function* last(frame: FrameOf<'end'>): AsyncGenerator<Frame> {
    isLast = true
    yield frame
  }

  /** Returns whether the stream ended here because another process owns the session now. */
  async function isElsewhere({ reason }: FrameOf<'end'>): Promise<boolean> {
    if (reason !== 'failed' || registry.closedFault()) return false
    const found = await owners.find(id).then(ok, refuseThrown)
    return found.ok && found.value !== null
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
