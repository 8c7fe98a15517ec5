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
import { attachedClient, type CallerOptions, splitCaller } from './caller.ts'
import type { LocalSession } from './own-session.ts'
import { lookUpsMax, noSignal, pauseBefore } from './relocation.ts'

/** Follows a session wherever it runs: when its owner changes, the stream goes on at its cursor, without a gap or a repeat. */
export async function* followAnywhere(
  registry: SessionRegistry,
  own: LocalSession,
  given: SubscribeOptions & CallerOptions,
): AsyncGenerator<Frame> {
  const { id } = own
  const { caller, options } = splitCaller(given)
  const { signal = noSignal, ...asked } = orThrow(parseSubscribeOptions(options))
  const { authority } = attachedClient(asked, caller)
  const { deps, owners } = registry
  const place = createPlace(asked)
  for (let lookUp = 0; ; lookUp++) {
    const owner = registry.loaded(id) ? null : await owners.find(id)
    const where = { client: asked.client, children: asked.children, ...place.now() }
    const frames = owner
      ? owner.follow({ ...where, session: id, caller: authority }, signal)
      : own.subscribe({ ...where, caller: authority, signal })
    let moved: FrameOf<'end'> | 'cut' | null = owner ? 'cut' : null
    for await (const frame of frames) {
      const isMove = frame.type === 'end' && (owner ? frame.reason !== 'stopped' : await isElsewhere(frame))
      moved = isMove ? frame : null
      if (isMove) break
      lookUp = 0
      place.note(frame)
      yield frame
      moved = owner && frame.type !== 'end' ? 'cut' : null
    }
    if (moved === null || signal.aborted) return
    if (registry.closedFault()) return yield { type: 'end', sessionId: id, reason: 'closing', retryMs }
    // Takes the session over if its owner is dead.
    const loaded = owner ? await registry.load(id) : null
    if (lookUp < lookUpsMax || loaded?.ok) await pauseBefore(deps.clock, lookUp, signal)
    else return yield { type: 'end', sessionId: id, reason: 'failed', retryMs }
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
