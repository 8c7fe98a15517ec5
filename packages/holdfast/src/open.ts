import { join } from 'node:path'
import { createSessionRegistry, type Retention, type SessionRegistry, startDailyCleanup } from '@holdfast/core'
import type { OnProblem } from '@holdfast/core/ports'
import { createRequestBuilder } from '@holdfast/core/requests'
import { fault, HoldfastError, ok, type Result, refuse } from '@holdfast/protocol'
import { createImages } from './context/images.ts'
import { createInstructions } from './context/instructions.ts'
import { createMemory } from './context/memory/memory.ts'
import type { RequestSource } from './context/requests/builder.ts'
import { createRequestThread } from './context/requests/request-thread.ts'
import { createArtefacts } from './context/summary-files.ts'
import { createHoldfast, type Holdfast } from './holdfast.ts'
import { observeAll } from './observe/combine-observers.ts'
import type { Logger } from './observe/logging/logger.ts'
import { createMaskedLogger } from './observe/logging/masked-logger.ts'
import { createProblems } from './observe/logging/problems.ts'
import { createSessionLogger } from './observe/logging/session-logger.ts'
import { loadSessionSpans } from './observe/telemetry/load-session-spans.ts'
import { openModels } from './open-models.ts'
import type { CustomModels } from './providers/find-model.ts'
import { createMemoryBlobs } from './store/blobs/memory-blobs.ts'
import { openStorage } from './store/open/open-storage.ts'
import type { StoreLocation } from './store/open/store-location.ts'
import type { ConfigOptions } from './system/config/layers.ts'
import { resolveWorkdir } from './system/files/resolve-path.ts'
import { type Environment, findHome, type Home, storeOf } from './system/home.ts'
import { newHandle, newSessionId } from './system/identity.ts'
import { isNodeAlive, type NodeSocket, openNodeSocket, removeNodeSocket } from './system/node-socket.ts'
import { maskKeys } from './system/secrets/known-keys.ts'
import { wallClock } from './system/wall-clock.ts'
import { createTools } from './tools/tools.ts'

export type OpenOptions = ConfigOptions & {
  /** `sqlite:PATH`, `jsonl:DIR` or `memory:`; by default what `HOLDFAST_STORE` says, else the user's SQLite file. */
  readonly store?: string | undefined
  /** A directory that gets every session of the SQLite store as a plain file, within a second. */
  readonly mirror?: string | undefined
  /** Where credentials, paths and options come from; the process's own by default. */
  readonly environment?: Environment | undefined
  /** Models the program brings: any AI SDK model object, by the name people will use. */
  readonly models?: CustomModels | undefined
  /** How long a session that nobody attends and that owes nothing stays in memory; 15 minutes by default. */
  readonly idleUnloadMs?: number | undefined
  /** Puts sessions into the trash, once a day, in which nobody spoke for so many days. Off by default. */
  readonly retention?: Retention | undefined
  /** Where to log what sessions do, and what goes wrong: a pino logger, or one of that shape. Nowhere by default. */
  readonly logger?: Logger | undefined
  /** Hears of what nobody foresaw: our own bugs. Without it and without a log they are warnings of the process. */
  readonly onProblem?: OnProblem | undefined
}

type InnerOptions = OpenOptions & {
  /** Whether a session will be started at once with the default model: then it is waited for, where it depends on this machine. */
  readonly isDefaultTaken?: boolean | undefined
}

/** Opens the runtime, or throws a `HoldfastError` that says why it cannot. */
export async function openHoldfast(options: OpenOptions = {}): Promise<Holdfast> {
  const opened = await open(options)
  if (!opened.ok) throw new HoldfastError(opened.fault)
  return opened.value
}

/** The composition root: the one place that knows every part. Opens all of them or, refusing, leaves none open. */
export async function open(options: InnerOptions): Promise<Result<Holdfast>> {
  const logger = options.logger && createMaskedLogger(options.logger)
  const onProblem = createProblems(options.onProblem, logger)
  const opened = new AsyncDisposableStack()
  const close = () => opened.disposeAsync()
  const runtime = await openRuntime({ ...options, logger, onProblem }, opened).catch((cause) => {
    if (cause instanceof HoldfastError) return refuse(cause.toFault())
    onProblem({ where: 'opening', cause })
    return refuse(fault('internal', `Holdfast cannot be opened: ${maskKeys(messageOf(cause))}`))
  })
  if (runtime.ok) return ok(createHoldfast(runtime.value.registry, runtime.value, close))
  await close().catch((cause) => onProblem({ where: 'closing what was opened', cause }))
  return runtime
}

type Runtime = { readonly registry: SessionRegistry; readonly place: StoreLocation; readonly home: Home }

/** What is opened is put on the stack, to be closed in the opposite order. */
async function openRuntime(
  options: InnerOptions & { readonly onProblem: OnProblem },
  opened: AsyncDisposableStack,
): Promise<Result<Runtime>> {
  const { environment = process.env, idleUnloadMs, retention, logger, onProblem } = options
  if (retention && !(retention.days > 0))
    return refuse(fault('bad_request', 'Retention is a number of days greater than 0.', { days: retention.days }))
  const home = findHome(environment)
  const found = await openModels({ environment, home, options, extra: options.models, onNotice: warnOfFile })
  if (!found.ok) return found
  const { models, configured, keyNames } = found.value
  opened.defer(() => models.close())
  const tracing = loadSessionSpans() // loads while the threads of the store do
  tracing.catch(() => undefined) // awaited below; a failure until then is not unhandled
  const kept = await openKept({ ...options, environment }, home, opened)
  if (!kept.ok) return kept
  const { place, ...adapters } = kept.value
  const spans = await tracing
  const observers = [...(spans ? [spans] : []), ...(logger ? [createSessionLogger(logger)] : [])]
  if (options.isDefaultTaken) await models.settleDefault()
  const registry = createSessionRegistry({
    ...adapters,
    ...adaptersOf(environment, home, keyNames),
    models,
    titleModel: configured.titleModel,
    compactionModel: configured.compactionModel,
    onProblem,
    observer: observeAll(observers, onProblem),
    idleUnloadMs,
  })
  opened.defer(() => registry.close())
  const dead = await registry.settleCrashed()
  await Promise.all(dead.map(({ address }) => removeNodeSocket(address)))
  const housekeeping = startDailyCleanup(registry, retention)
  opened.defer(() => housekeeping.close())
  return ok({ registry, place, home })
}

/** Where sessions are kept, and this process by its name among those who use it. */
async function openKept(
  { store: url, mirror, environment, onProblem }: InnerOptions & { environment: Environment; onProblem: OnProblem },
  home: Home,
  opened: AsyncDisposableStack,
) {
  const storage = await openStorage({ url: url ?? storeOf(environment), mirror, home, onProblem })
  if (!storage.ok) return storage
  const { store, blobs, place } = storage.value
  opened.defer(() => store.close())
  opened.defer(() => storage.value.mirror?.close())
  const source = threadSource(place)
  const requests = source && createRequestThread({ source, here: createRequestBuilder(store, blobs), onProblem })
  opened.defer(() => requests?.close())
  const socket = await openSocket(home)
  if (!socket.ok) return socket
  opened.defer(() => socket.value.close())
  const node = socket.value.row
  await store.registerNode(node)
  return ok({ store, blobs, place, node, requests: requests ?? undefined })
}

/** What needs no opening. */
function adaptersOf(environment: Environment, { configDir }: Home, keyNames: readonly string[]) {
  const { now } = wallClock
  const memory = createMemory({ userFile: join(configDir, 'MEMORY.md'), now })
  return {
    memoryBlobs: createMemoryBlobs(),
    images: createImages(),
    tools: createTools({ environment, keyNames, memory }),
    instructions: createInstructions({ now, memory }),
    artefacts: createArtefacts({ now }),
    clock: wallClock,
    isAlive: isNodeAlive,
    newSessionId,
    newHandle,
    resolveWorkdir,
  }
}

/** Where another thread can read what a request is made of; null when only this process has it. */
function threadSource(place: StoreLocation): RequestSource | null {
  return place.kind === 'sqlite' ? { path: place.path, blobsDir: place.blobsDir } : null
}

/** Without a place to answer from, other processes would take this one for dead. */
async function openSocket({ stateDir }: Home): Promise<Result<NodeSocket>> {
  try {
    return ok(await openNodeSocket(stateDir, wallClock.now()))
  } catch (cause) {
    const message = `The state directory ${stateDir} cannot be used: ${messageOf(cause)}`
    return refuse(fault('storage_error', message, { path: stateDir }))
  }
}

const warnOfFile = (sentence: string): void => process.emitWarning(sentence, 'HoldfastNotice')

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
