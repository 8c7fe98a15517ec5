import { join } from 'node:path'
import { createRoster, type Retention, type Roster, startHousekeeping } from '@holdfast/core'
import type { OnProblem, Problem } from '@holdfast/core/ports'
import { createRequests } from '@holdfast/core/requests'
import { fault, HoldfastError, ok, type Result, refuse } from '@holdfast/protocol'
import { createArtefacts } from './artefacts/artefacts.ts'
import { createHoldfast, type Holdfast } from './holdfast.ts'
import { type Environment, findHome, type Home, storeOf } from './home.ts'
import { newHandle } from './identity/handle.ts'
import { newSessionId } from './identity/session-id.ts'
import { createImages } from './images/images.ts'
import { createInstructions } from './instructions/instructions.ts'
import { createMemory } from './memory/memory.ts'
import { isNodeAlive, type NodeSocket, openNodeSocket, removeNodeSocket } from './node/node-socket.ts'
import { wallClock } from './platform/wall-clock.ts'
import { resolveWorkdir } from './platform/workdir.ts'
import { createModels, defaultModel, type ModelsParts } from './providers/models.ts'
import { createRequestThread } from './requests/request-thread.ts'
import type { RequestSource } from './requests/wire.ts'
import { openStorage } from './storage/open-storage.ts'
import type { StorePlace } from './storage/store-place.ts'
import { createMemoryBlobs } from './store/blobs/memory-blobs.ts'
import { createTools } from './tools/tools.ts'

export type OpenOptions = {
  /** `sqlite:PATH`, `jsonl:DIR` or `memory:`; by default what `HOLDFAST_STORE` says, else the user's SQLite file. */
  readonly store?: string | undefined
  /** A directory that gets every session of the SQLite store as a plain file, within a second. */
  readonly mirror?: string | undefined
  /** Where credentials, paths and options come from; the process's own by default. */
  readonly environment?: Environment | undefined
  /** Models the program brings: any AI SDK model object, by the name people will use. */
  readonly models?: ModelsParts['extra']
  /** How long a session that nobody attends and that owes nothing stays in memory; 15 minutes by default. */
  readonly idleUnloadMs?: number | undefined
  /** Puts sessions into the trash, once a day, in which nobody spoke for so many days. Off by default. */
  readonly retention?: Retention | undefined
  /** A model that names the sessions nobody named, after their first turn: `provider/model`. Without it, their first line does. */
  readonly titleModel?: string | undefined
  /** Hears of what nobody foresaw: our own bugs. Without it they are warnings of the process. */
  readonly onProblem?: OnProblem | undefined
}

/** Opens the runtime, or throws a `HoldfastError` that says why it cannot. */
export async function openHoldfast(options: OpenOptions = {}): Promise<Holdfast> {
  const opened = await open(options)
  if (!opened.ok) throw new HoldfastError(opened.fault)
  return opened.value
}

/** The composition root: the one place that knows every part. Opens all of them or, refusing, leaves none open. */
export async function open(options: OpenOptions): Promise<Result<Holdfast>> {
  const { onProblem = warnOfProblem } = options
  const opened = new AsyncDisposableStack()
  const close = () => opened.disposeAsync()
  const runtime = await openRuntime({ ...options, onProblem }, opened).catch((cause) => {
    if (cause instanceof HoldfastError) return refuse(cause.toFault())
    onProblem({ where: 'opening', cause })
    return refuse(fault('internal', `Holdfast cannot be opened: ${messageOf(cause)}`))
  })
  if (runtime.ok) return ok(createHoldfast(runtime.value.roster, runtime.value, close))
  await close().catch((cause) => onProblem({ where: 'closing what was opened', cause }))
  return runtime
}

type Runtime = { readonly roster: Roster; readonly place: StorePlace; readonly home: Home }

/** What is opened is put on the stack, to be closed in the opposite order. */
async function openRuntime(
  options: OpenOptions & { readonly onProblem: OnProblem },
  opened: AsyncDisposableStack,
): Promise<Result<Runtime>> {
  const {
    store: url,
    mirror,
    environment = process.env,
    models: extra,
    idleUnloadMs,
    retention,
    titleModel,
    onProblem,
  } = options
  if (retention && !(retention.days > 0))
    return refuse(fault('bad_request', 'Retention is a number of days greater than 0.', { days: retention.days }))
  const models = createModels({ environment, extra })
  const named = titleModel === undefined ? null : models.find(titleModel)
  if (named?.type === 'unknown_model') return refuse(fault('unknown_model', named.message, { model: titleModel }))
  const home = findHome(environment)
  const storage = await openStorage({ url: url ?? storeOf(environment), mirror, home, onProblem })
  if (!storage.ok) return storage
  const { store, blobs, place } = storage.value
  opened.defer(() => store.close())
  opened.defer(() => storage.value.mirror?.close())
  const source = threadSource(place)
  const requests = source && createRequestThread({ source, here: createRequests(store, blobs), onProblem })
  opened.defer(() => requests?.close())

  const socket = await openSocket(home)
  if (!socket.ok) return socket
  opened.defer(() => socket.value.close())
  await store.registerNode(socket.value.row)
  const memory = createMemory({ userFile: join(home.configDir, 'MEMORY.md'), now: wallClock.now })
  const roster = createRoster({
    store,
    blobs,
    memoryBlobs: createMemoryBlobs(),
    requests: requests ?? undefined,
    images: createImages(),
    models,
    titleModel,
    tools: createTools({ environment, memory }),
    instructions: createInstructions({ now: wallClock.now, memory }),
    artefacts: createArtefacts({ now: wallClock.now }),
    clock: wallClock,
    onProblem,
    node: socket.value.row,
    isAlive: isNodeAlive,
    newSessionId,
    newHandle,
    resolveWorkdir,
    defaultModel: defaultModel(environment),
    idleUnloadMs,
  })
  opened.defer(() => roster.close())
  const dead = await roster.settleCrashed()
  await Promise.all(dead.map(({ address }) => removeNodeSocket(address)))
  const housekeeping = startHousekeeping(roster, retention)
  opened.defer(() => housekeeping.close())
  return ok({ roster, place, home })
}

/** Where another thread can read what a request is made of; null when only this process has it. */
function threadSource(place: StorePlace): RequestSource | null {
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

/** A program that listens for no problems still sees them. */
function warnOfProblem({ where, cause }: Problem): void {
  const what = cause instanceof Error ? (cause.stack ?? cause.message) : JSON.stringify(cause)
  process.emitWarning(`${where}: ${what}`, 'HoldfastProblem')
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
