import {
  type CommandInput,
  type Frame,
  fault,
  ok,
  type PageRequest,
  refuse,
  type SessionHandle,
  type SubmitOptions,
  type SubscribeOptions,
} from '@holdfast/protocol'
import { message, meta, sessionId, snapshot } from './story.ts'

/** A session of ten messages in this process; frames come when the test says so. */
export function createFakeHandle() {
  const submitted: [CommandInput, SubmitOptions | undefined][] = []
  const pages: PageRequest[] = []
  const subscriptions: { readonly options: SubscribeOptions; readonly give: (frame: Frame) => void }[] = []
  let state = snapshot(10)
  let onSubscribed = () => {}

  const handle: SessionHandle = {
    id: sessionId,
    async submit(command, options) {
      submitted.push([command, options])
      if (command.type === 'continue') return refuse(fault('nothing_to_continue', 'There is nothing to continue.'))
      return ok({ seq: 11, result: { did: command.type } })
    },
    async *subscribe(options = {}) {
      const waiting: Frame[] = []
      let wake = () => {}
      subscriptions.push({
        options,
        give: (frame) => {
          waiting.push(frame)
          wake()
        },
      })
      onSubscribed()
      options.signal?.addEventListener('abort', () => wake())
      while (!options.signal?.aborted) {
        const frame = waiting.shift()
        if (frame) yield frame
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        if (frame?.type === 'end') return
      }
    },
    snapshot: async () => ok(state),
    async page(request = {}) {
      pages.push(request)
      const upTo = request.before === undefined ? 10 : request.before - 1
      const from = Math.max(1, upTo - 3)
      const messages = Array.from({ length: upTo - from + 1 }, (_, index) => message(from + index))
      return ok({ session: meta, messages, before: from === 1 ? null : message(from).id, after: null })
    },
    branches: async () => ok([]),
    blob: async () => refuse(fault('blob_not_found', 'There is nothing.')),
    models: async () => ok({ models: [], providers: [] }),
    treeUsage: async () => ok({ usage: meta.usage, sessions: 1 }),
  }
  return {
    handle,
    submitted,
    pages,
    subscriptions,
    give: (...frames: readonly Frame[]) => {
      for (const frame of frames) subscriptions.at(-1)?.give(frame)
    },
    /** Resolves at the next subscription. */
    subscribed: () =>
      new Promise<void>((resolve) => {
        onSubscribed = resolve
      }),
    setState: (next: typeof state) => {
      state = next
    },
  }
}
