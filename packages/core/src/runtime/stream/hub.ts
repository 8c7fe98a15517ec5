import {
  type CallId,
  type ChildView,
  type ClientId,
  createRecordFrame,
  type Frame,
  type FrameOf,
  type LivePosition,
  limits,
  type ModelStatus,
  type RecordedView,
  type Seq,
  type SessionId,
  type StorageError,
} from '@holdfast/protocol'
import type { ModelReadiness } from '../../ports/provider.ts'
import type { EncodedRecord } from '../../ports/store/log.ts'
import { type AttachedClient, createDriverControl, type DriverControl } from './driver-control.ts'
import { createLiveAnswer } from './live-answer.ts'
import { createSharedPages } from './shared-pages.ts'
import { createSubscription, type Subscription } from './subscription.ts'

type EndFrame = (reason: FrameOf<'end'>['reason'], retryMs: number | null) => FrameOf<'end'>

/** Publishes frames to every subscriber of one session. All of them get the same object, which is encoded once. */
export interface Hub {
  /** How many subscriptions there are. */
  readonly size: number
  /** How many clients are attached: a named client counts once, however many subscriptions it has. */
  readonly attached: number
  readonly drivers: DriverControl
  /** Publishes durable records only: no client may see a record that a crash could lose. */
  publish(records: readonly EncodedRecord[]): void
  /** Publishes live text, which is never stored: at once, or joined with what follows in this slice. */
  show(position: LivePosition, text: string): void
  /** Publishes that the store began or stopped refusing the session's writes. */
  publishStorage(error: StorageError | null): void
  /** Publishes the model's status. A record that changes the model does so by itself. */
  publishModel(): void
  /** Publishes what changed of a subagent below the session. */
  showChild(view: ChildView): void
  /** Subscribes: from now on the subscription misses nothing. With the name of another caller's client it has no name. */
  join(who?: AttachedClient): Joined
  /** Attaches a client that does not subscribe; the returned function detaches it. Null if another caller has its name. */
  sit(who: AttachedClient & { readonly client: ClientId }): (() => void) | null
  /** Returns what `read` returns at this seq. Everyone who asks at the newest seq gets the same object while it is in use. */
  share(seq: Seq, read: () => Promise<RecordedView>): Promise<RecordedView>
  /** Returns the records between two seqs that `read` returns. Clients that ask for the same ones share them. */
  readonly sharePage: ReturnType<typeof createSharedPages>
  /** What running calls have printed, as far as it is still held. */
  printed(): ReadonlyMap<CallId, string>
  end(...why: Parameters<EndFrame>): void
}

type Joined = {
  readonly subscription: Subscription
  readonly draft: FrameOf<'draft'> | null
  /** The storage status, for a client that reconnects. */
  readonly storage: FrameOf<'storage'>
  /** The model's status, likewise. */
  readonly model: FrameOf<'model'>
  leave(): void
}

const frameOverheadBytes = 160

/** About how large the frame of a subagent is: only previews can be long. */
const childBytes = ({ pendingApprovals }: ChildView): number =>
  4 * frameOverheadBytes + pendingApprovals.length * limits.previewBytesMax

/** `model` returns the readiness of the session's current model. */
export function createHub(sessionId: SessionId, changed: () => void, model: () => ModelReadiness): Hub {
  const subscriptions = new Set<Subscription>()
  let storage: FrameOf<'storage'> = { type: 'storage', sessionId, error: null }

  const push = (frame: Frame, bytes: number) => {
    for (const subscription of subscriptions) if (!subscription.push(frame, bytes)) subscriptions.delete(subscription)
  }
  const live = createLiveAnswer(sessionId, { send: (frame) => push(frame, frame.text.length + frameOverheadBytes) })
  const send = (frame: Frame, bytes: number) => {
    live.flush() // frames stay in order
    push(frame, bytes)
  }
  const endFrame: EndFrame = (reason, retryMs) => ({ type: 'end', sessionId, reason, retryMs })
  const modelFrame = (): FrameOf<'model'> => ({ type: 'model', sessionId, ...modelStatus(model()) })
  const publishModel = () => send(modelFrame(), frameOverheadBytes)
  const drivers = createDriverControl(() => {
    const frame: Frame = { type: 'presence', sessionId, clients: [...drivers.all] }
    send(frame, frameOverheadBytes * (frame.clients.length + 1))
  })
  let nameless = 0

  return {
    drivers,
    get size() {
      return subscriptions.size
    },
    get attached() {
      return drivers.all.length + nameless
    },

    publish(records) {
      for (const { record, body } of records) {
        live.drop(record.event)
        send(createRecordFrame(sessionId, record, body), body.length + frameOverheadBytes)
        if (record.event.type === 'settings.changed' && record.event.model !== undefined) publishModel()
      }
    },
    show: live.show,
    publishStorage(error) {
      storage = { type: 'storage', sessionId, error }
      send(storage, (error?.message.length ?? 0) + frameOverheadBytes)
    },
    publishModel: publishModel,
    showChild: (view) => send({ type: 'child', sessionId, child: view.id, view }, childBytes(view)),

    sit({ client, role, authority }) {
      if (!drivers.attach(client, role, authority)) return null
      changed()
      let isSeated = true
      return () => {
        if (!isSeated) return
        isSeated = false
        drivers.detach(client)
        changed()
      }
    },
    join({ client, role, authority } = { client: null }) {
      const draft = live.draft() // before the new subscription: it must not get twice what the draft has
      const subscription = createSubscription(live.draft, () => endFrame('slow', 0))
      subscriptions.add(subscription)
      const named = client !== null && drivers.attach(client, role, authority) ? client : null
      if (named === null) nameless += 1
      changed()
      let isAttached = true
      const leave = () => {
        subscription.close()
        subscriptions.delete(subscription)
        if (!isAttached) return
        isAttached = false
        if (named === null) nameless -= 1
        else drivers.detach(named)
        changed()
      }
      return { subscription, draft, storage, model: modelFrame(), leave }
    },
    share: createShare(),
    sharePage: createSharedPages(),
    printed: live.printed,
    end(reason, retryMs) {
      live.flush()
      for (const subscription of subscriptions) subscription.end(endFrame(reason, retryMs))
      subscriptions.clear()
    },
  }
}

/** Shares the view at the newest seq. A weak reference keeps it no longer than the subscribers that still send it. */
function createShare(): Hub['share'] {
  let newest = -1
  let known: WeakRef<RecordedView> | null = null
  let reading: Promise<RecordedView> | null = null
  return (seq, read) => {
    if (seq < newest) return read()
    const view = seq === newest ? known?.deref() : undefined
    if (view) return Promise.resolve(view)
    if (seq === newest && reading) return reading
    const mine = read()
      .then((found) => {
        if (reading === mine) known = new WeakRef(found)
        return found
      })
      .finally(() => {
        if (reading === mine) reading = null
      })
    newest = seq
    known = null
    reading = mine
    return mine
  }
}

/** Returns what clients may know of a session's model: never its key. */
export function modelStatus(model: ModelReadiness): ModelStatus {
  if (model.type !== 'ready') return { credentialsConfigured: false, contextTokens: null }
  const { contextTokens, endpoint, takes, thinkingLevels } = model
  return {
    credentialsConfigured: true,
    contextTokens: contextTokens ?? null,
    ...(endpoint !== undefined && { endpoint }),
    ...(takes !== undefined && { takes: [...takes] }),
    ...(thinkingLevels !== undefined && { thinkingLevels: [...thinkingLevels] }),
  }
}
