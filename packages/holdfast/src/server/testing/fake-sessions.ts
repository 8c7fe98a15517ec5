import { type LocalSession, type LocalSessions, toSubmission } from '@holdfast/core'
import {
  type Answer,
  BlobHash,
  Command,
  type Frame,
  fault,
  type Message,
  type MessageId,
  type ModelList,
  messageOf,
  ok,
  type ProcessView,
  pickFields,
  type Recorded,
  type Removal,
  refuse,
} from '@holdfast/protocol'
import { aMeta, aRecord, aView } from '@holdfast/testkit'

export const meta = aMeta()
export const view = aView()
export const sessionId = meta.id
export const at = meta.createdAt
const aBlob = BlobHash.parse('0'.repeat(64))
export const aRemoval: Removal = {
  count: 1,
  gone: [{ id: meta.id, handle: meta.handle, title: meta.title }],
  workspaces: [{ workspace: meta.workspace, count: 1 }],
  stayed: [],
  dryRun: false,
}

export const aModelList: ModelList = {
  models: [
    {
      model: 'demo/agent',
      title: 'Demo',
      contextTokens: null,
      outputTokens: null,
      price: null,
      takes: [],
      tools: true,
      thinkingLevels: null,
      unusable: null,
      isDefault: true,
    },
  ],
  providers: [{ provider: 'demo', title: 'Demo', endpoint: null, keyFrom: null, unusable: null }],
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

/** One session in memory that accepts prompts and never answers, for testing the server. */
export function createFakeSessions() {
  const log = createFakeLog()
  const touched: unknown[] = []
  const trouble: { next: Error | null } = { next: null }
  const { subscribe, left, pulls } = createFakeStream(log, touched)
  const handle = { ...createFakeHandle(log, touched, trouble), subscribe }
  const sessions: LocalSessions = {
    ...createFakeCatalogue(handle, touched, trouble),
    ...createFakeRemovals(touched),
    models: async () => ok(aModelList),
    async refreshCredentials() {
      touched.push({ refreshCredentials: true })
      return ok(aModelList)
    },
    /** The one session never changes. */
    async *subscribe({ signal } = {}) {
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
    },
  }
  const { records, publish, say, subscribers } = log
  /** `left` resolves when a subscriber has left; `pulls` counts requests for frames. */
  return { sessions, handle, touched, records, publish, say, left, pulls, trouble, subscribers }
}

type FakeLog = ReturnType<typeof createFakeLog>
type Trouble = { readonly next: Error | null }

/** The records of the session, and the subscribers that get each new one. */
function createFakeLog() {
  const records: Recorded[] = []
  const subscribers = new Set<(frame: Frame) => void>()
  const publish = (frame: Frame) => {
    for (const give of [...subscribers]) give(frame)
  }
  const messages = () => {
    const line: Message[] = []
    for (const record of records) {
      const message = messageOf(record, line.at(-1)?.id ?? null)
      if (message) line.push(message)
    }
    return line
  }
  return {
    records,
    subscribers,
    publish,
    messages,
    say(text: string, commandId?: string) {
      const seq = records.length + 1
      const content = [{ type: 'text' as const, text }]
      const record = aRecord(seq, { type: 'user.said', turn: 0, content }, { ...(commandId && { commandId }) })
      records.push(record)
      publish({ type: 'record', sessionId, record })
      return record
    },
    snapshotFrame: () => ({
      type: 'snapshot' as const,
      sessionId,
      seq: records.length,
      meta,
      view,
      messages: messages(),
      before: null,
      summary: null,
      here,
    }),
  }
}

const here: ProcessView = {
  clients: [],
  storageError: null,
  credentialsConfigured: true,
  contextTokens: 200_000,
  workspaceTrust: [],
}

function createFakeStream({ records, subscribers, snapshotFrame }: FakeLog, touched: unknown[]) {
  const left = Promise.withResolvers<void>()
  const pulls = { count: 0 }
  const subscribe: LocalSession['subscribe'] = async function* ({ after, client, signal } = {}) {
    touched.push({ subscribe: after, client })
    const waiting: Frame[] =
      after === undefined
        ? [snapshotFrame()]
        : records.slice(after).map((record) => ({ type: 'record', sessionId, record }))
    let wake = () => {}
    const give = (frame: Frame) => {
      waiting.push(frame)
      wake()
    }
    const stop = () => wake()
    subscribers.add(give)
    signal?.addEventListener('abort', stop)
    try {
      while (!signal?.aborted) {
        pulls.count++
        const frame = waiting.shift()
        if (frame) yield frame
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    } finally {
      subscribers.delete(give)
      left.resolve()
    }
  }
  return { subscribe, left: left.promise, pulls }
}

type FakeHandle = Omit<LocalSession, 'subscribe'>

function createFakeHandle({ messages, say, snapshotFrame }: FakeLog, touched: unknown[], trouble: Trouble): FakeHandle {
  const answers = new Map<string, Answer>()
  const dispatch: LocalSession['dispatch'] = async ({ command, commandId, by }) => {
    touched.push({ submit: command, commandId, as: by })
    if (trouble.next) throw trouble.next
    const known = answers.get(commandId)
    if (known) return ok(known)
    if (command.type === 'continue') return refuse(fault('nothing_to_continue', 'There is nothing to continue.'))
    const text = command.type === 'sendPrompt' ? JSON.stringify(command.content) : command.type
    const answer = { seq: say(text, commandId).seq, result: { did: command.type } }
    answers.set(commandId, answer)
    return ok(answer)
  }
  return {
    id: sessionId,
    dispatch,
    submit: (command) => dispatch(toSubmission(Command.parse(command), null)),
    snapshot: async () => ok(snapshotFrame()),
    attach: async () => refuse(fault('session_stopped', 'Nobody can attach.')),
    state: async (fields) => ok(pickFields({ ...view, seq: 0, meta, here, summary: null }, fields)),
    servers: async () => ok([]),
    skills: async () => ok([]),
    commands: async () => ok([]),
    branches: async () => ok([]),
    clientEvents: async () => ok({ events: [], after: null }),
    fileChanges: async () => ok({ changes: [], before: null }),
    diffChanges: async () => ok({ files: [] }),
    previewRestore: async (request) => {
      touched.push({ previewRestore: request })
      return ok({ files: [], refused: [] })
    },
    boundaries: async () => ok([]),
    backgroundShells: async () => ok([]),
    instructionFiles: async () => ok([]),
    readFile: async ({ path, start = 0 }) => ok({ path, start, lines: ['a line'], total: 1, next: null }),
    blob: async (hash) => {
      touched.push({ blob: hash })
      return ok(bytesOf('<script>alert(1)</script>'))
    },
    models: async () => ok(aModelList),
    subagents: async () => ok([]),
    subagentContext: async () =>
      ok({
        root: sessionId,
        depth: 1,
        refusal: null,
        workdir: '/work',
        model: view.model,
        mode: view.mode,
        thinkingLevel: view.thinkingLevel,
        skills: [],
        boundaries: [],
        approvals: 'destructive',
        permissions: [],
        tools: null,
        readOnly: false,
        budgets: {},
        running: 0,
        runningMax: 8,
        started: 0,
        startedMax: 64,
      }),
    treeUsage: async () => ok({ usage: meta.usage, sessions: 3 }),
    async page({ before, after, limit } = {}) {
      touched.push({ page: { before, after, limit } })
      const line = messages().filter(({ id }) => (before === undefined ? true : id < before))
      const shown = line.slice(-(limit ?? 100))
      const first = shown[0]
      return ok({
        session: meta,
        messages: shown,
        before: first && shown.length < line.length ? first.id : null,
        after: null,
      })
    },
  }
}

function createFakeCatalogue(
  handle: LocalSession,
  touched: unknown[],
  trouble: Trouble,
): Pick<LocalSessions, 'start' | 'open' | 'findByKey' | 'latest' | 'stop' | 'list' | 'search' | 'storeFile'> {
  return {
    findByKey: async (key) => ok(key === meta.key ? handle : null),
    latest: async () => ok(handle),
    async stop(name) {
      touched.push({ stop: name })
      return ok(null)
    },
    async start(options) {
      touched.push({ start: options })
      return options.workdir === '/missing' ? refuse(fault('bad_workdir', 'There is no such folder.')) : ok(handle)
    },
    async open(name) {
      touched.push({ open: name })
      if (trouble.next) throw trouble.next
      return name === sessionId || name === meta.handle
        ? ok(handle)
        : refuse(fault('session_not_found', 'No such session.'))
    },
    async list(options) {
      touched.push({ list: options })
      if (trouble.next) throw trouble.next
      return ok({ sessions: options?.startedFor === undefined ? [meta] : [], next: null })
    },
    async search(options) {
      touched.push({ search: options })
      const hit = { sessionId, title: meta.title, messageId: 1 as MessageId, kind: 'user', at, snippet: 'hi' } as const
      return ok({ hits: [hit], next: null })
    },
    async storeFile(bytes, options) {
      touched.push({ storeFile: bytes.length, options })
      if (bytes.length === 0) return refuse(fault('bad_request', 'The file is empty.'))
      const file = { type: 'file', blob: aBlob, mediaType: 'text/plain', bytes: bytes.length } as const
      return ok({ file, changed: 'nothing' })
    },
  }
}

function createFakeRemovals(
  touched: unknown[],
): Pick<LocalSessions, 'delete' | 'purge' | 'clearAll' | 'prune' | 'restore' | 'emptyTrash'> {
  return {
    async delete(name, options) {
      touched.push({ delete: name, options })
      return ok(aRemoval)
    },
    async purge(name, options) {
      touched.push({ purge: name, options })
      return ok(aRemoval)
    },
    async clearAll(options) {
      touched.push({ clearAll: options })
      return ok(aRemoval)
    },
    async prune(options) {
      touched.push({ prune: options })
      return ok(aRemoval)
    },
    async restore(name) {
      touched.push({ restore: name })
      return ok(meta)
    },
    async emptyTrash(options) {
      touched.push({ emptyTrash: options })
      return ok(aRemoval)
    },
  }
}
