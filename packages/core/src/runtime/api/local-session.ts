import { createHash } from 'node:crypto'
import {
  type Answer,
  type AttachOptions,
  ClientId,
  Command,
  CommandId,
  type CommandInput,
  commandFault,
  createCommandId,
  DiffRequest,
  explainIssue,
  type Frame,
  fault,
  limits,
  ok,
  orThrow,
  type Recorded,
  RestoreRequest,
  type Result,
  Role,
  refuse,
  type Seat,
  type SessionHandle,
  type SessionId,
  type Submission,
  type SubmitOptions,
  type SubscribeOptions,
} from '@holdfast/protocol'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../ports/store.ts'
import { openBlob } from '../blobs/read-blob.ts'
import { diffChanges } from '../files/diff-changes.ts'
import { previewRestore } from '../files/restore-files.ts'
import { type Folded, loadSession } from '../log/load-session.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import type { SessionRunner } from '../runner/session-runner.ts'
import { storageErrorOf, withNotAccepted } from '../storage-health.ts'
import type { AttachedClient, Authority } from '../stream/driver-control.ts'
import { modelStatus } from '../stream/hub.ts'
import { createSessionReader, type SessionReader } from './session-reader.ts'
import { takeSeat } from './take-seat.ts'
import { sumTreeUsage } from './tree-usage.ts'

/** When a client may retry a session that the disk refuses to open. */
const retryMs = 500

/** A session of this process. Reading does not load it; commands and subscriptions do. */
export interface LocalSession extends SessionHandle {
  /** Runs a command that has been parsed. `submit` parses one and passes it on to here. */
  dispatch(submission: Submission): Promise<Result<Answer>>
  /** As the interface says. `caller` is the authority of a client of the server; it overrides `mayDrive`. */
  subscribe(options?: SubscribeOptions & CallerOptions): AsyncIterable<Frame>
  attach(options?: AttachOptions & CallerOptions): Promise<Result<Seat>>
}

/** Who a client of the server is, and what its token lets it do. */
export type CallerOptions = { readonly caller?: Authority | undefined }

export function createLocalSession(registry: SessionRegistry, id: SessionId): LocalSession {
  const { models, observer, clock } = registry.deps
  const store = registry.stores.storeOf(id)
  let reader: SessionReader | null = null
  /** Builds the reader at the first read: most requests are commands, which need none. */
  const read = (): SessionReader => {
    reader ??= createReader(registry, store, id)
    return reader
  }

  async function dispatch(submission: Submission): Promise<Result<Answer>> {
    const startedMs = clock.now()
    const runner = await registry.load(id)
    let answer = runner.ok ? await runner.value.submit(submission) : refuse(withNotAccepted(runner.fault))
    // The session may have been unloaded meanwhile: load it again, so that the client does not notice.
    const isStopped = !answer.ok && answer.fault.code === 'session_stopped'
    if (isStopped && runner.ok && registry.loaded(id) !== runner.value) {
      const again = await registry.load(id)
      answer = again.ok ? await again.value.submit(submission) : again
    }
    observer?.answered?.(id, submission, answer, clock.now() - startedMs)
    return answer
  }

  return {
    id,
    dispatch,
    submit(input, options = {}) {
      const submission = parseSubmission(input, options)
      return submission.ok ? dispatch(submission.value) : Promise.resolve(submission)
    },
    async attach(options = {}) {
      const who = parseAttachment(options)
      if (!who.ok) return who
      const client = who.value.client ?? ClientId.parse(createCommandId())
      return takeSeat(registry, id, { ...who.value, client }, async (input, sending = {}) => {
        const submission = parseSubmission(input, { ...sending, as: client })
        return submission.ok ? dispatch({ ...submission.value, needsSeat: true }) : submission
      })
    },
    snapshot: () => read().snapshot(),
    state: (fields) => read().state(fields),
    page: (request) => read().page(request),
    messages: (request) => read().messages(request),
    clientEvents: (request) => read().clientEvents(request),
    fileChanges: (request) => read().fileChanges(request),
    async previewRestore(input) {
      const request = RestoreRequest.safeParse(input)
      if (!request.success) return refuse(fault('bad_request', `The restore: ${explainIssue(request.error)}.`))
      const now = await readFolded(registry, store, id)
      if (!now.ok) return now
      return previewRestore(
        { ...registry.deps, store },
        id,
        now.value.state,
        request.data,
        new AbortController().signal,
      )
    },
    async diffChanges(input = {}) {
      const request = DiffRequest.safeParse(input)
      if (!request.success) return refuse(fault('bad_request', `The diff: ${explainIssue(request.error)}.`))
      const now = await readFolded(registry, store, id)
      if (!now.ok) return now
      return diffChanges({ ...registry.deps, store }, id, now.value.state, request.data, new AbortController().signal)
    },
    async readFile(request) {
      const state = await read().state(['meta'])
      return state.ok ? registry.deps.files.readLines(state.value.meta.workspace, request) : state
    },
    branches: () => read().branches(),
    blob: (hash) => openBlob({ ...registry.deps, store }, id, hash),
    models: async () => ok(await models.list()),
    treeUsage: () => sumTreeUsage(registry.stores, id),

    async *subscribe({ after, signal, ...asked }: SubscribeOptions & CallerOptions = {}): AsyncGenerator<Frame> {
      let cursor = after
      const who = orThrow(parseAttachment(asked)) // a subscription cannot return a refusal
      for (;;) {
        // The snapshot of an unloaded session is read while the session is claimed.
        const loading = cursor === undefined && registry.loaded(id) === null ? loadSession(store, id) : undefined
        const ahead = loading
          ?.then((loaded) => (loaded.ok ? read().recordedView(loaded.value) : null))
          .catch(() => null)
        const loaded = await registry.load(id, loading)
        if (!loaded.ok) {
          const error = storageErrorOf(loaded.fault)
          if (error) yield { type: 'storage', sessionId: id, error }
          yield { type: 'end', sessionId: id, reason: 'failed', retryMs: error ? retryMs : null }
          return
        }
        let isCut = false
        for await (const frame of followSession(
          loaded.value,
          { after: cursor, signal, ...who },
          { log: store, snapshotOf: (joined) => read().snapshotOf(joined, ahead) },
        )) {
          if (frame.type === 'snapshot') cursor = frame.seq
          if (frame.type === 'record') cursor = frame.record.seq
          // A client that was cut off for reading slowly continues at its cursor: the log has all it missed.
          isCut = frame.type === 'end' && frame.reason === 'slow'
          if (!isCut) yield frame
        }
        if (!isCut || signal?.aborted) return
      }
    },
  }
}

function createReader(registry: SessionRegistry, store: Store, id: SessionId): SessionReader {
  return createSessionReader({
    id,
    log: store,
    folded: () => readFolded(registry, store, id),
    share: (seq, read) => registry.loaded(id)?.hub.share(seq, read) ?? read(),
    completeMeta: registry.withAttachments,
    workspaceTrust: async ({ origin }) => (origin ? store.workspaceTrust(origin.workdir) : []),
    here: ({ settings }, trust) => ({
      clients: registry.loaded(id)?.hub.drivers.all ?? [],
      storageError: registry.loaded(id)?.storageError() ?? null,
      ...modelStatus(registry.deps.models.find(settings.model)),
      workspaceTrust: [...trust],
    }),
  })
}

/** Returns the current folds, of a running session or from the store. */
async function readFolded(registry: SessionRegistry, store: Store, id: SessionId): Promise<Result<Folded>> {
  const runner = registry.loaded(id)
  return runner ? ok(runner.folded()) : loadSession(store, id)
}

type Past = Pick<SessionReader, 'snapshotOf'> & { readonly log: Pick<Log, 'read'> }

/** Subscribes before it reads the past, so that no record is missed or sent twice. */
async function* followSession(
  { id: sessionId, hub, folded }: SessionRunner,
  { after, signal, ...who }: Pick<SubscribeOptions, 'after' | 'signal'> & AttachedClient,
  { snapshotOf, log }: Past,
): AsyncGenerator<Frame> {
  const { subscription, draft, storage, model, leave } = hub.join(who)
  const joined = folded()
  const { seq } = joined.state
  signal?.addEventListener('abort', leave, { once: true })
  if (signal?.aborted) leave()
  try {
    if (after !== undefined && after > seq) {
      yield { type: 'resync', sessionId, reason: `there is no record ${after} yet` }
    }
    if (after === undefined || after > seq) yield await snapshotOf(joined)
    else {
      for await (const record of replay(log, sessionId, after, seq)) yield { type: 'record', sessionId, record }
      yield storage // a snapshot carries both, a cursor does not
      yield model
    }
    if (draft) yield draft
    yield* subscription
  } finally {
    signal?.removeEventListener('abort', leave)
    leave()
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

/** Parses a command and its options: plain JSON and texts become a submission here, once. */
function parseSubmission(input: CommandInput, { commandId, as }: SubmitOptions): Result<Submission> {
  const command = Command.safeParse(input)
  if (!command.success) return refuse(commandFault(input, command.error))
  const id = CommandId.optional().safeParse(commandId)
  if (!id.success) return refuse(fault('bad_request', `commandId: ${explainIssue(id.error)}.`))
  const client = ClientId.optional().safeParse(as)
  if (!client.success) return refuse(fault('bad_request', `as: ${explainIssue(client.error)}.`))
  return ok(toSubmission(command.data, client.data ?? null, id.data))
}

/** Builds the submission of a parsed command; `by` is null for the embedding program itself. */
export const toSubmission = (command: Command, by: ClientId | null, commandId?: CommandId): Submission => ({
  commandId: commandId ?? commandIdFor(command),
  by,
  command,
})

/** Parses who attaches. Refused: bad_request, invalid_role. */
function parseAttachment(asked: AttachOptions & CallerOptions): Result<AttachedClient> {
  const { client, role, mayDrive = false, caller } = asked
  const named = ClientId.optional().safeParse(client)
  if (!named.success) return refuse(fault('bad_request', `client: ${explainIssue(named.error)}.`))
  const wanted = Role.optional().safeParse(role)
  if (!wanted.success) return refuse(fault('invalid_role', `There is no role ${role}. A role is driver or viewer.`))
  // The program decides who may drive, so its clients may then take control from anyone.
  const authority = caller ?? { person: null, mayDrive, isAdmin: mayDrive }
  return ok({ client: named.data ?? null, role: wanted.data, authority })
}

/** Returns a new id, or for a client's own event one derived from the event's id: the event is stored once. */
const commandIdFor = (command: Command): CommandId =>
  command.type === 'appendClientEvent' ? eventCommandId(command.event.eventId) : createCommandId()

/** Hashes UTF-16 code units, so that ids that differ in an unpaired surrogate stay different. */
const eventCommandId = (eventId: string): CommandId =>
  CommandId.parse(`event-${createHash('sha256').update(Buffer.from(eventId, 'utf16le')).digest('base64url')}`)
