import { join } from 'node:path'
import {
  createRecentRecords,
  createSessionRegistry,
  findSession,
  loadSession,
  type Retention,
  type SessionRegistry,
  startDailyCleanup,
  tenantStores,
} from '@holdfast/core'
import type { Blobs, OnProblem, OwnPath, Permissions, Store, Tool } from '@holdfast/core/ports'
import { createRequestBuilder } from '@holdfast/core/requests'
import { errorMessage, fault, HoldfastError, invariant, ok, orThrow, type Result, refuse } from '@holdfast/protocol'
import { createImages } from './context/images.ts'
import { createInstructions } from './context/instructions.ts'
import { createMemory } from './context/memory/memory.ts'
import { createMemoryTrust } from './context/memory/memory-trust.ts'
import { createRequestThread } from './context/requests/request-thread.ts'
import { createSummaryFiles } from './context/summary-files.ts'
import { createAgents } from './guidance/agents/agents.ts'
import { createCommands } from './guidance/commands/commands.ts'
import { createSkills } from './guidance/skills/skills.ts'
import { createHoldfast, type Holdfast, type ServedHoldfast } from './holdfast.ts'
import type { OwnHooks } from './hooks/own-hooks.ts'
import { createBearerCheck } from './nodes/check-bearer.ts'
import { type NodeOptions, openClusterNode } from './nodes/cluster/cluster-node.ts'
import { createLocalNode, openSocket } from './nodes/local-node.ts'
import type { OwnNode } from './nodes/own-node.ts'
import { observeAll } from './observe/combine-observers.ts'
import { createMaskedLogger, type Logger } from './observe/logging/logger.ts'
import { createProblems } from './observe/logging/problems.ts'
import { createSessionLogger } from './observe/logging/session-logger.ts'
import { loadSessionSpans } from './observe/telemetry/load-session-spans.ts'
import { createFolderLister } from './open/folder-lists.ts'
import { createToolLister } from './open/list-tools.ts'
import { listHooks, openHooks } from './open/open-hooks.ts'
import { openModelSettings } from './open/open-model-settings.ts'
import { openModels } from './open/open-models.ts'
import { openOfferTrust } from './open/open-offer-trust.ts'
import { findOptionFault } from './open/open-options.ts'
import { openPaths } from './open/open-paths.ts'
import { openServers } from './open/open-servers.ts'
import { openTrustedWorkspaces } from './open/open-trusted-workspaces.ts'
import { createPromptCommands } from './open/prompt-commands.ts'
import { createSpendingCaps, resolveGivenCaps } from './open/spending-caps.ts'
import type { CustomModels } from './providers/models.ts'
import { createMemoryBlobs } from './store/blobs/memory-blobs.ts'
import { openStorage, type Storage } from './store/open/open-storage.ts'
import { locateStore, pathsOf } from './store/open/store-location.ts'
import { isPostgresUrl } from './store/postgres/connect/postgres-url.ts'
import { permissionPath } from './system/config/permission-file.ts'
import type { ConfigOptions } from './system/config/read-config.ts'
import { resolveWorkdir } from './system/files/resolve-path.ts'
import { type Environment, findHome, type Home, storeOf } from './system/home.ts'
import { newHandle, newSessionId } from './system/identity.ts'
import type { NodeSocket } from './system/node/node-socket.ts'
import { maskKeys } from './system/secrets/known-keys.ts'
import { wallClock } from './system/wall-clock.ts'
import { createLiveTokens } from './tokens/live-tokens.ts'
import type { ReadRules } from './tools/define/read-rules.ts'
import { createWorkspaceFiles } from './tools/files/workspace-files.ts'
import type { McpServers } from './tools/mcp/mcp-servers.ts'
import { type OwnTools, readOwnTools } from './tools/own/own-tools.ts'
import { createPermissions } from './tools/permissions/permissions.ts'
import type { SandboxSetting } from './tools/sandbox/sandbox.ts'
import { createCompletePaths } from './tools/search/complete-paths.ts'
import type { CommandRules } from './tools/shell/confinement.ts'
import { commandEnvironment } from './tools/shell/environment.ts'
import { createTools } from './tools/tools.ts'

export { defineTool } from './tools/own/define-own-tool.ts'

/** The options of `openHoldfast`. An unknown one is refused with the nearest right name. */
export type OpenOptions = ConfigOptions & {
  /**
   * `sqlite:PATH`, `jsonl:DIR`, `postgres://HOST/DATABASE` or `memory:`; by default `HOLDFAST_STORE`, else the user's SQLite file. Or a store of your
   * own, which is closed with Holdfast.
   */
  readonly store?: string | Store | undefined
  /**
   * The files of a store of your own; by default in memory, so that they end with the process. Or `s3://BUCKET/PREFIX`, where
   * a PostgreSQL store keeps new files; by default `HOLDFAST_BLOBS`, else in the database.
   */
  readonly blobs?: Blobs | string | undefined
  /** A directory where each session of the SQLite store is also written to a plain file, within a second. */
  readonly mirror?: string | undefined
  /** How this process takes part in a cluster, which only a PostgreSQL store has: its URL, and the folders it serves. */
  readonly node?: NodeOptions | undefined
  /** The environment variables to read; those of the process by default. */
  readonly environment?: Environment | undefined
  /** The program's own models, by `provider/model` name: any AI SDK model object, or a `Provider`. */
  readonly models?: CustomModels | undefined
  /** The program's own tools, beside the built-in ones: made with `defineTool`, or AI SDK tools by name. */
  readonly tools?: OwnTools | undefined
  /** The program's own hooks, by event: functions that run at certain moments of every session. */
  readonly hooks?: OwnHooks | undefined
  /** How long an idle session without clients stays in memory; 15 minutes by default. */
  readonly idleUnloadMs?: number | undefined
  /** Moves sessions to the trash, once a day, that had no message for this many days. Off by default. */
  readonly retention?: Retention | undefined
  /** A pino logger, or one of that shape, for events of sessions and for errors. None by default. */
  readonly logger?: Logger | undefined
  /** Called with unexpected errors, which are our bugs. Without it and without a logger they become process warnings. */
  readonly onProblem?: OnProblem | undefined
}

type InnerOptions = OpenOptions & {
  /** Set if a session with the default model starts next: local servers are then queried first, if it depends on them. */
  readonly usesDefaultModel?: boolean | undefined
}

/** Opens the runtime; throws a `HoldfastError` if it cannot. */
export async function openHoldfast(options: OpenOptions = {}): Promise<Holdfast> {
  const refused = findOptionFault(options)
  if (refused !== null) throw new HoldfastError(refused)
  return orThrow(await open(options))
}

/** Opens the runtime. This is the composition root, the only place that knows every part. On failure nothing stays open. */
export async function open(options: InnerOptions): Promise<Result<ServedHoldfast>> {
  const logger = options.logger && createMaskedLogger(options.logger)
  const onProblem = createProblems(options.onProblem, logger)
  const opened = new AsyncDisposableStack()
  const close = () => opened.disposeAsync()
  try {
    const runtime = await openRuntime({ ...options, logger, onProblem }, opened)
    return ok(createHoldfast(runtime.registry, runtime, close))
  } catch (cause) {
    const isExpected = cause instanceof HoldfastError
    if (!isExpected) onProblem({ where: 'opening', cause })
    await close().catch((error) => onProblem({ where: 'closing after a failed start', cause: error }))
    if (isExpected) return refuse(cause.toFault())
    return refuse(fault('internal', `Holdfast could not start: ${maskKeys(errorMessage(cause))}`))
  }
}

/** Opens the parts and pushes each on the stack, which closes them in reverse order. */
async function openRuntime(options: InnerOptions & { readonly onProblem: OnProblem }, opened: AsyncDisposableStack) {
  const { environment = process.env, idleUnloadMs, retention, logger, onProblem } = options
  const home = findHome(environment)
  const own = await readOwnTools(options.tools)
  const onNotice = (sentence: string) => process.emitWarning(sentence, 'HoldfastNotice')
  if (typeof options.store === 'object' && !options.blobs) onNotice(filesInMemory)
  const finding = openModels({ environment, home, options, extra: options.models, onNotice }).then(orThrow)
  // Its threads start now, because they take longest. What fails is thrown once all has ended.
  const storing = openStoreAndNode({ ...options, environment, checked: finding }, home, opened)
  // Made while the thread of the store starts.
  const preparing = finding.then(({ configured, keyNames }) => {
    const permissions = createPermissions({
      file: permissionPath(home.configDir),
      shared: async () => (await storing).store.permissionRules,
      searchPath: commandEnvironment(environment, { keyNames })['PATH'],
    })
    const location = orThrow(locateStore(options.store ?? storeOf(environment), home))
    const storePaths = pathsOf(location, options.mirror)
    const rules = { permissions, commandRules: permissions, readRules: permissions }
    const given = { keyNames, own, ...rules, storePaths, ...configured }
    const servers = openServers({ home, environment, keyNames, onProblem })
    opened.defer(() => servers.close())
    const hooks = orThrow(openHooks({ environment, home, keyNames, configured, own: options.hooks }))
    return { permissions, hooks, mcpServers: servers, ...createAdapters(environment, home, { ...given, servers }) }
  })
  const tracing = loadSessionSpans()
  await Promise.allSettled([storing, preparing, tracing])
  const { models, configured } = await finding
  opened.defer(() => models.close())
  const { location, openWriterPort, own: ownNode, ...stored } = await storing
  const prepared = await preparing
  const spans = await tracing
  const observers = [...(spans ? [spans] : []), ...(logger ? [createSessionLogger(logger)] : [])]
  if (options.usesDefaultModel) await models.settleDefault()
  const caps = orThrow(await resolveGivenCaps(configured.caps, resolveWorkdir))
  const registry = createSessionRegistry({
    ...stored,
    ...ownNode.deps,
    caps,
    ...prepared,
    models,
    titleModel: configured.titleModel,
    compactionModel: configured.compactionModel,
    onProblem,
    observer: observeAll(observers, onProblem),
    idleUnloadMs,
  })
  opened.defer(() => registry.close())
  const tokens = createLiveTokens({
    rows: registry.deps.store,
    clock: wallClock,
    onProblem,
    findSession: (name, tenant) =>
      findSession(tenant === undefined ? registry.stores : tenantStores(registry.stores, tenant), name),
  })
  const serving = ownNode.serve(registry, onProblem, createBearerCheck(tokens, registry.stores))
  opened.defer(() => serving.close())
  await registry.settleCrashed()
  await registry.deps.tools.background?.endLeftovers()
  const cleanup = startDailyCleanup(registry, retention)
  opened.defer(() => cleanup.close())
  const { permissions, hooks } = prepared
  const trust = openOfferTrust(home)
  const spending = createSpendingCaps({
    rows: registry.deps.store,
    given: caps,
    now: wallClock.now,
    resolveWorkdir,
  })
  const tools = createToolLister({
    home,
    tools: prepared.tools,
    permissions,
    sandboxNetwork: configured.sandboxNetwork,
    resolveWorkdir,
    load: (name) => loadNamed(registry.stores, name),
  })
  return {
    registry,
    location,
    home,
    environment,
    openWriterPort,
    parts: {
      permissions,
      trust,
      tools,
      spending,
      hooks: listHooks(hooks),
      folders: createFolderLister({ ...prepared, servers: prepared.mcpServers }),
      ...openPaths(registry, prepared.completePaths, permissions),
      modelSettings: openModelSettings({ environment, home, models, configured }),
    },
    tokens,
    rateLimit: configured.rateLimit,
    drain: ownNode.drain,
  }
}

/** Opens the store, once the configuration is checked, and registers this process as a node in it. */
async function openStoreAndNode(
  {
    store: given,
    blobs: own,
    mirror,
    node: nodeOptions = {},
    environment,
    onProblem,
    checked,
  }: InnerOptions & { environment: Environment; onProblem: OnProblem; checked: Promise<unknown> },
  home: Home,
  opened: AsyncDisposableStack,
) {
  const url = given ?? storeOf(environment)
  const isCluster = typeof url === 'string' && isPostgresUrl(url)
  const [opening, listening] = await Promise.allSettled([
    openStorage({
      store: url,
      blobs: own,
      mirror,
      environment,
      home,
      onProblem,
      checked,
    }),
    checked.then(() => (isCluster ? null : openSocket(home.stateDir, wallClock.now()))),
  ])
  if (listening.status === 'fulfilled') opened.defer(() => listening.value?.close())
  if (opening.status === 'rejected') throw opening.reason
  const storage = orThrow(opening.value)
  const { store, memoryStore, blobs, location, openWriterPort } = storage
  opened.defer(() => store.close())
  opened.defer(() => storage.mirror?.close())
  if (listening.status === 'rejected') throw listening.reason
  // The thread that builds requests can read only a SQLite store.
  const source = location.kind === 'sqlite' ? { path: location.path, blobsDir: location.blobsDir } : null
  const requests = source && createRequestThread({ source, here: createRequestBuilder(store, blobs), onProblem })
  opened.defer(() => requests?.close())
  const ownNode = await openNode(storage, listening.value, nodeOptions)
  opened.defer(() => ownNode.close())
  await ownNode.join()
  return {
    store,
    memoryStore,
    blobs,
    location,
    openWriterPort,
    own: ownNode,
    requests: requests ?? undefined,
    recent: createRecentRecords(),
  }
}

/** Opens this process as a node: of a cluster if the store is one, else with the socket. */
function openNode(
  { store, cluster }: Pick<Storage, 'store' | 'cluster'>,
  socket: NodeSocket | null,
  options: NodeOptions,
): Promise<OwnNode> | OwnNode {
  if (cluster) return openClusterNode({ store, cluster, options, nowMs: wallClock.now() })
  invariant(socket, 'a process without a cluster has a socket')
  return createLocalNode(socket, store)
}

async function loadNamed(stores: SessionRegistry['stores'], name: string) {
  const id = await findSession(stores, name)
  return id.ok ? loadSession(stores.storeOf(id.value), id.value) : id
}

/** Creates the adapters that need no opening. */
function createAdapters(
  environment: Environment,
  home: Home,
  given: {
    readonly keyNames: readonly string[]
    readonly own: readonly Tool[]
    readonly fetchHosts: readonly string[]
    readonly shellEnvironment: readonly string[]
    readonly sandbox: SandboxSetting
    readonly sandboxNetwork: boolean
    readonly permissions: Pick<Permissions, 'judge'>
    readonly commandRules: CommandRules
    readonly readRules: ReadRules
    readonly servers: McpServers
    /** The store and its mirror may be outside of the home. */
    readonly storePaths: readonly OwnPath[]
  },
) {
  const { now } = wallClock
  const { configDir, dataDir, stateDir, userDir } = home
  const ownPaths = [dataDir, configDir, stateDir, ...given.storePaths]
  const trusted = openTrustedWorkspaces(home)
  const trust = createMemoryTrust(trusted, userDir)
  const memory = createMemory({ userFile: join(configDir, 'MEMORY.md'), now, trust })
  const skills = createSkills({ configDir, userDir, trusted })
  const agents = createAgents({ configDir, userDir, trusted })
  return {
    memoryBlobs: createMemoryBlobs(),
    images: createImages(),
    tools: createTools({
      ...given,
      environment,
      memory,
      skills,
      agents,
      ownPaths,
      shellDirectory: join(stateDir, 'shells'),
    }),
    instructions: createInstructions({ now, memory, skills, permissions: given.permissions, configDir, userDir }),
    skills,
    agents,
    servers: given.servers.forSessions,
    commands: createCommands({ configDir, userDir, trusted, skills, others: createPromptCommands(given.servers) }),
    summaryFiles: createSummaryFiles({ now }),
    files: createWorkspaceFiles(ownPaths),
    completePaths: createCompletePaths({ environment, ownPaths, readRules: given.readRules }),
    clock: wallClock,
    newSessionId,
    newHandle,
    resolveWorkdir,
  }
}

const filesInMemory =
  'The files of your own store are kept in memory and end with this process. Give the option blobs, such as openFileBlobs of holdfast/store.'
