import {
  createRecentRecords,
  createSessionRegistry,
  findSession,
  loadSession,
  type SessionRegistry,
  startDailyCleanup,
  tenantStores,
} from '@holdfast/core'
import type { OnProblem } from '@holdfast/core/ports'
import { errorMessage, fault, HoldfastError, ok, orThrow, type Result, refuse } from '@holdfast/protocol'
import { createHoldfast, type Holdfast, type ServedHoldfast } from './holdfast.ts'
import { createBearerCheck } from './nodes/check-bearer.ts'
import { observeAll } from './observe/combine-observers.ts'
import { createMaskedLogger } from './observe/logging/logger.ts'
import { createProblems } from './observe/logging/problems.ts'
import { createSessionLogger } from './observe/logging/session-logger.ts'
import { loadSessionSpans } from './observe/telemetry/load-session-spans.ts'
import { createAdapters } from './open/create-adapters.ts'
import { createFolderLister } from './open/folder-lists.ts'
import { createToolLister } from './open/list-tools.ts'
import { listHooks, openHooks } from './open/open-hooks.ts'
import { openModelSettings } from './open/open-model-settings.ts'
import { openModels } from './open/open-models.ts'
import { openOfferTrust } from './open/open-offer-trust.ts'
import { findOptionFault, type InnerOptions, type OpenOptions } from './open/open-options.ts'
import { openPaths } from './open/open-paths.ts'
import { openServers } from './open/open-servers.ts'
import { openStoreAndNode } from './open/open-store-and-node.ts'
import { createSpendingCaps, resolveGivenCaps } from './open/spending-caps.ts'
import { locateStore, pathsOf } from './store/open/store-location.ts'
import { permissionPath } from './system/config/permission-file.ts'
import { resolveWorkdir } from './system/files/resolve-path.ts'
import { findHome, storeOf } from './system/home.ts'
import { maskKeys } from './system/secrets/known-keys.ts'
import { wallClock } from './system/wall-clock.ts'
import { createLiveTokens } from './tokens/live-tokens.ts'
import { readOwnTools } from './tools/own/own-tools.ts'
import { createPermissions } from './tools/permissions/permissions.ts'
import { commandEnvironment } from './tools/shell/environment.ts'

export type { OpenOptions } from './open/open-options.ts'
export { defineTool } from './tools/own/define-own-tool.ts'

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
    recent: createRecentRecords(),
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

async function loadNamed(stores: SessionRegistry['stores'], name: string) {
  const id = await findSession(stores, name)
  return id.ok ? loadSession(stores.storeOf(id.value), id.value) : id
}

const filesInMemory =
  'The files of your own store are kept in memory and end with this process. Give the option blobs, such as openFileBlobs of holdfast/store.'
