import {
  ClientId,
  type CommandInput,
  type CommandOptions,
  type Frame,
  fault,
  ok,
  type PageRequest,
  pickFields,
  refuse,
  type SessionHandle,
  type SubscribeOptions,
} from '@holdfast/protocol'
import { clientEvent, message, meta, sessionId, snapshot } from './story.ts'

/** A session of ten messages in this process; frames come when the test says so. */
export function createFakeHandle() {
  const submitted: [CommandInput, CommandOptions | undefined][] = []
  const pages: PageRequest[] = []
  const subscriptions: { readonly options: SubscribeOptions; readonly give: (frame: Frame) => void }[] = []
  let state = snapshot(10)
  let onSubscribed = () => {}

  const handle: SessionHandle = {
    id: sessionId,
    async attach({ client = 'someone', role = 'driver' } = {}) {
      let isDetached = false
      return ok({
        client: ClientId.parse(client),
        role,
        submit: async (command, options) =>
          isDetached
            ? refuse(fault('not_subscribed', 'It is detached.'))
            : handle.submit(command, { ...options, as: client }),
        detach: async () => {
          isDetached = true
        },
      })
    },
    async submit(command, options) {
      submitted.push([command, options])
      if (command.type === 'continue') return refuse(fault('nothing_to_continue', 'There is nothing to continue.'))
      const result = command.type === 'pinSession' ? { pinned: command.pinned ?? true } : {}
      return ok({ seq: 11, result })
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
    state: async (fields) => {
      const { view, seq, meta: row, here, summary } = state
      return ok(pickFields({ ...view, seq, meta: row, here, summary }, fields))
    },
    fileChanges: async () => ok({ changes: [], before: null }),
    diffChanges: async () => ok({ files: [] }),
    previewRestore: async () => ok({ files: [], refused: [] }),
    boundaries: async () => ok([]),
    backgroundShells: async () => ok([]),
    instructionFiles: async () => ok([]),
    readFile: async ({ path, start = 0 }) => ok({ path, start, lines: ['a line'], total: 1, next: null }),
    async clientEvents({ after = 0 } = {}) {
      const events = Array.from({ length: 5 }, (_, index) => clientEvent(index + 1)).filter(({ seq }) => seq > after)
      return ok({ events: events.slice(0, 2), after: events.length > 2 ? (events[1]?.seq ?? null) : null })
    },
    async page(request = {}) {
      pages.push(request)
      const isForward = request.after !== undefined
      const upTo = isForward ? Math.min(10, (request.after ?? 0) + 4) : (request.before ?? 11) - 1
      const from = isForward ? (request.after ?? 0) + 1 : Math.max(1, upTo - 3)
      const messages = Array.from({ length: upTo - from + 1 }, (_, index) => message(from + index))
      const [before, after] = [from === 1 ? null : message(from).id, upTo === 10 ? null : message(upTo).id]
      return ok({ session: meta, messages, before, after: isForward ? after : null })
    },
    servers: async () => ok([]),
    skills: async () => ok([]),
    commands: async () => ok([]),
    branches: async () => ok([]),
    blob: async () => refuse(fault('blob_not_found', 'There is nothing.')),
    models: async () => ok({ models: [], providers: [] }),
    subagents: async () => ok([]),
    subagentContext: async () => refuse(fault('session_not_found', 'There is nothing.')),
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
