import { createHash } from 'node:crypto'
import {
  type Answer,
  type AttachOptions,
  BlobHash,
  type ChildView,
  ClientEventRequest,
  ClientId,
  Command,
  CommandId,
  type CommandInput,
  CommandOptions,
  commandFault,
  createCommandId,
  DiffRequest,
  FileChangeRequest,
  FileLinesRequest,
  type Frame,
  fault,
  findJsonExcess,
  ok,
  orThrow,
  PageRequest,
  parseAttachOptions,
  parseOptions,
  parseSubscribeOptions,
  RestoreRequest,
  type Result,
  refuse,
  type Seat,
  type Seq,
  type SessionHandle,
  type SessionId,
  type Submission,
  type SubscribeOptions,
} from '@holdfast/protocol'
import type { Store } from '../../ports/store/store.ts'
import { openBlob } from '../blobs/read-blob.ts'
import { diffChanges } from '../files/diff-changes.ts'
import { listBoundaries } from '../files/list-boundaries.ts'
import { previewRestore } from '../files/restore-files.ts'
import { loadSession } from '../log/load-session.ts'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { retryMs } from '../runner/handle-input.ts'
import { storageErrorOf, withNotAccepted } from '../storage-health.ts'
import { modelStatus } from '../stream/hub.ts'
import { joinStreams } from '../stream/join-streams.ts'
import { listChildren } from '../subagents/list-children.ts'
import { sumTreeUsage } from '../subagents/tree-usage.ts'
import { attachedClient, type CallerOptions, splitCaller } from './caller.ts'
import { followSession } from './follow-session.ts'
import { followTree } from './follow-tree.ts'
import { listCommands, listInstructionFiles, listServers, listSkills } from './list-guidance.ts'
import { checkReadable, readFolded } from './read-folded.ts'
import { createSessionReader, type SessionReader } from './session-reader.ts'
import { takeSeat } from './take-seat.ts'

/** A session of this machine's store. Reading does not load it; commands and subscriptions do. */
export interface LocalSession extends SessionHandle {
  /** Runs a command that has been parsed. `submit` parses one and passes it on to here. */
  dispatch(submission: Submission): Promise<Result<Answer>>
  /** As the interface says. `caller` is the authority of a client of the server; it overrides `mayDrive`. */
  subscribe(options?: SubscribeOptions & CallerOptions): AsyncIterable<Frame>
  attach(options?: AttachOptions & CallerOptions): Promise<Result<Seat>>
}

/** Creates a session that runs only here: if another process owns it, commands and subscriptions are refused. */
export function createOwnSession(registry: SessionRegistry, id: SessionId): LocalSession {
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
    async attach(given = {}) {
      const { caller, options } = splitCaller(given)
      const asked = parseAttachOptions(options)
      if (!asked.ok) return asked
      const who = attachedClient(asked.value, caller)
      const client = who.client ?? ClientId.parse(createCommandId())
      return takeSeat(registry, id, { ...who, client }, async (input, sending = {}) => {
        const submission = parseSubmission(input, { ...sending, as: client })
        return submission.ok ? dispatch({ ...submission.value, needsSeat: true }) : submission
      })
    },
    snapshot: () => read().snapshot(),
    state: (fields) => read().state(fields),
    async page(given = {}) {
      const request = parseOptions(PageRequest, given, 'read a page')
      return request.ok ? read().page(request.value) : request
    },
    messages: (request) => read().messages(request),
    async clientEvents(given = {}) {
      const request = parseOptions(ClientEventRequest, given, 'read client events')
      return request.ok ? read().clientEvents(request.value) : request
    },
    async fileChanges(given = {}) {
      const request = parseOptions(FileChangeRequest, given, 'read file changes')
      return request.ok ? read().fileChanges(request.value) : request
    },
    async previewRestore(input) {
      const request = parseOptions(RestoreRequest, input, 'restore files')
      if (!request.ok) return request
      const now = await readFolded(registry, store, id)
      if (!now.ok) return now
      const deps = { ...registry.deps, store }
      return previewRestore(deps, id, now.value.state, request.value, new AbortController().signal)
    },
    async diffChanges(input = {}) {
      const request = parseOptions(DiffRequest, input, 'show the changes')
      if (!request.ok) return request
      const now = await readFolded(registry, store, id)
      if (!now.ok) return now
      return diffChanges({ ...registry.deps, store }, id, now.value.state, request.value, new AbortController().signal)
    },
    async readFile(given) {
      const request = parseOptions(FileLinesRequest, given, 'read a file')
      if (!request.ok) return request
      const state = await read().state(['meta'])
      return state.ok ? registry.deps.files.readLines(state.value.meta.workspace, request.value) : state
    },
    async boundaries() {
      const now = await readFolded(registry, store, id)
      return now.ok ? listBoundaries({ ...registry.deps, store }, id, now.value.state) : now
    },
    async backgroundShells() {
      const state = await read().state(['meta'])
      return state.ok ? ok((await registry.deps.tools.background?.list(id)) ?? []) : state
    },
    servers: () => listServers(registry.deps.servers, read()),
    skills: () => listSkills(registry.deps.skills, read()),
    instructionFiles: async () => listInstructionFiles(registry.deps, await readFolded(registry, store, id)),
    commands: () => listCommands(registry.deps.commands, read()),
    branches: () => read().branches(),
    async blob(given) {
      const hash = parseOptions(BlobHash, given, 'read a blob')
      if (!hash.ok) return hash
      const readable = await checkReadable(registry, id)
      return readable.ok ? openBlob({ ...registry.deps, store }, id, hash.value) : readable
    },
    models: async () => ok(await models.list()),
    async subagents() {
      const readable = await checkReadable(registry, id)
      const { stores, loaded } = registry
      return readable.ok ? listChildren({ rows: stores, loaded, storeOf: stores.storeOf }, id) : readable
    },
    async subagentContext() {
      const folded = await readFolded(registry, store, id)
      return folded.ok ? ok(await registry.subagents.context(id, folded.value.state)) : folded
    },
    async treeUsage() {
      const readable = await checkReadable(registry, id)
      return readable.ok ? sumTreeUsage(registry.stores, id) : readable
    },

    subscribe(given: SubscribeOptions & CallerOptions = {}): AsyncIterable<Frame> {
      const { children, ...rest } = given
      const own = subscribeAlone(rest)
      if (!children) return own
      const follow = (child: SessionId, signal: AbortSignal) => createOwnSession(registry, child).subscribe({ signal })
      return followTree(own, registry.subagents, follow, id)
    },
  }

  function subscribeAlone(given: SubscribeOptions & CallerOptions): AsyncIterable<Frame> {
    let cursor: Seq | undefined
    let isCut = false
    return joinStreams(streams(), (frame) => {
      if (frame.type === 'snapshot') cursor = frame.seq
      if (frame.type === 'record') cursor = frame.record.seq
      isCut = frame.type === 'end' && frame.reason === 'slow' && !given.endsWhenSlow
      return isCut ? 'skip' : 'pass'
    })

    async function* streams(): AsyncGenerator<AsyncIterable<Frame>, void> {
      // A subscription cannot return a refusal.
      const { caller, options } = splitCaller(given)
      const { after, signal, children: _, ...asked } = orThrow(parseSubscribeOptions(options))
      cursor = after
      const who = attachedClient(asked, caller)
      for (;;) {
        // The snapshot of an unloaded session is read while the session is claimed.
        const loading = cursor === undefined && registry.loaded(id) === null ? loadSession(store, id) : undefined
        const ahead = loading
          ?.then((loaded) => (loaded.ok ? read().recordedView(loaded.value) : null))
          .catch(() => null)
        const loaded = await registry.load(id, loading)
        if (!loaded.ok) {
          const error = storageErrorOf(loaded.fault)
          const storage: readonly Frame[] = error ? [{ type: 'storage', sessionId: id, error }] : []
          yield framesOf(...storage, { type: 'end', sessionId: id, reason: 'failed', retryMs: error ? retryMs : null })
          return
        }
        yield* followSession(
          loaded.value,
          { after: cursor, signal, ...who },
          {
            log: store,
            snapshotOf: (joined) => read().snapshotOf(joined, ahead),
            children: () => registry.subagents.below(id),
            dropLost: registry.dropLost,
          },
        )
        // A client that was cut off for reading slowly continues at its cursor: the log has all it missed.
        if (!isCut || signal?.aborted) return
      }
    }
  }
}

async function* framesOf(...frames: readonly Frame[]): AsyncGenerator<Frame> {
  yield* frames
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
      ...childrenOf(registry, id),
    }),
  })
}

/** Returns the subagents that ran here below a session, if there are any. */
function childrenOf({ subagents }: SessionRegistry, id: SessionId): { readonly children?: ChildView[] } {
  const children = subagents.below(id)
  return children.length === 0 ? {} : { children: [...children] }
}

/** Parses a command and its options: plain JSON and texts become a submission here, once. */
export function parseSubmission(input: CommandInput, given: CommandOptions): Result<Submission> {
  const excess = findJsonExcess(input)
  if (excess !== null) return refuse(fault('bad_request', `Invalid command: ${excess}.`))
  // Not `parseCommand`: conversations of a program keep its texts as they are, also with an unpaired surrogate.
  const command = Command.safeParse(input)
  if (!command.success) return refuse(commandFault(input, command.error))
  const options = parseOptions(CommandOptions, given, 'send a command')
  if (!options.ok) return options
  const { as: client = null, commandId } = options.value
  const submission = toSubmission(command.data, client, commandId)
  // As over HTTP: a client must be attached, except to abort.
  return ok(client !== null && command.data.type !== 'abort' ? { ...submission, needsSeat: true } : submission)
}

/** Builds the submission of a parsed command; `by` is null for the embedding program itself. */
export const toSubmission = (command: Command, by: ClientId | null, commandId?: CommandId): Submission => ({
  commandId: commandId ?? commandIdFor(command),
  by,
  command,
})

/** Returns a new id, or for a client's own event one derived from the event's id: the event is stored once. */
const commandIdFor = (command: Command): CommandId =>
  command.type === 'appendClientEvent' ? eventCommandId(command.event.eventId) : createCommandId()

/** Hashes UTF-16 code units, so that ids that differ in an unpaired surrogate stay different. */
const eventCommandId = (eventId: string): CommandId =>
  CommandId.parse(`event-${createHash('sha256').update(Buffer.from(eventId, 'utf16le')).digest('base64url')}`)
