import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createSession, type HoldfastMethods, type Session } from '@holdfast/client'
import { createHoldfastMethods, requireOptions } from '@holdfast/client/internal'
import {
  createLocalSession,
  createLocalSessions,
  findByKey,
  findSession,
  type LocalSessions,
  type Notifier,
  type SessionRegistry,
} from '@holdfast/core'
import {
  ExportOptions,
  fault,
  HoldfastError,
  type ImportFile,
  type Meta,
  orThrow,
  pairImportFiles,
  parseImportFiles,
  parseOptions,
  type Result,
  type StartOptions,
  type Stats,
  type StatsOptions,
} from '@holdfast/protocol'
import { type Admin, createAdmin, toResult } from './admin/jobs/admin.ts'
import { createConversationPool } from './conversations/conversation-pool.ts'
import { type Conversations, type ConversationsOptions, createConversations } from './conversations/conversations.ts'
import { checkReady } from './nodes/check-ready.ts'
import type { ServerTenants } from './server/define/server-deps.ts'
import type { ServerParts } from './server/define/server-parts.ts'
import type { StoreLocation } from './store/open/store-location.ts'
import { createStoredSessions, type StoredSessions } from './stored-sessions.ts'
import type { RateLimit } from './system/config/config.ts'
import { safeFileName } from './system/files/safe-file-name.ts'
import type { Environment, Home } from './system/home.ts'
import type { LiveTokens } from './tokens/live-tokens.ts'
import { createExportSource, exportSession } from './transfer/export/export-session.ts'
import { createImportHost } from './transfer/import/host/import-host.ts'
import type { ImportedFile } from './transfer/import/import-paths.ts'
import { publicImportFault } from './transfer/import/public-fault.ts'
import { createImportQueue } from './transfer/import/thread/import-queue.ts'
import { type ImportOptions, type OpenWriterPort, runImportThread } from './transfer/import/thread/import-thread.ts'
import { readImportOptions } from './transfer/import/thread/read-options.ts'

export type { Notification, Notifier } from '@holdfast/core'

/** Options for a session started in this process: those that are recorded, and a callback. */
export type LocalStartOptions = Partial<StartOptions> & {
  /** Called when the session asks for an approval or becomes idle, while this process runs. */
  readonly notifier?: Notifier | undefined
}

/** The runtime in this process. Failed calls throw a `HoldfastError`. */
export interface Holdfast extends HoldfastMethods, StoredSessions, Admin {
  readonly handles: LocalSessions
  startSession(options?: LocalStartOptions): Promise<Session>
  getOrCreate(key: string, options?: LocalStartOptions): Promise<Session>
  /** Returns the sessions in the memory of this process, with their metadata. */
  listSessions(): readonly { readonly session: Session; readonly metadata: Meta }[]
  /** Imports sessions of other programs, or of another Holdfast: files and folders by path, which are only read, or bytes. */
  import(
    from: string | ImportFile | readonly string[] | readonly ImportFile[],
    options?: ImportOptions,
  ): Promise<readonly ImportedFile[]>
  /** Counts sessions, messages, usage and disk space. */
  stats(options?: StatsOptions): Promise<Stats>
  /** Returns conversations for a program with its own loop; each is a session with a key. */
  conversations(options?: ConversationsOptions): Conversations
}

type HoldfastParts = {
  readonly location: StoreLocation
  readonly home: Home
  readonly environment: Environment
  /** Lets a thread write to the store; null if it cannot. */
  readonly openWriterPort: OpenWriterPort | null
  /** What clients use, in this process and of a server. */
  readonly parts: Omit<ServerParts, 'transfer' | 'stats'>
  readonly tokens: LiveTokens
  /** How many requests each caller of a server may send, as configured. */
  readonly rateLimit: RateLimit | undefined
  readonly drain: (signal: AbortSignal) => Promise<void>
}

/** A runtime with what a server in the same process needs of it. `ready` checks whether it can run sessions. */
export type ServedHoldfast = Holdfast & {
  readonly liveTokens: LiveTokens
  /** All parts behind the routes, except for exports and imports. */
  readonly serverParts: Omit<ServerParts, 'transfer'>
  readonly rateLimit: RateLimit | undefined
  ready(): Promise<Result<null>>
  /** The sessions and files of tenants; null if the store does not keep them apart. */
  readonly tenants: ServerTenants | null
  /** Where other nodes of the cluster reach this one; null if the store is for one machine. */
  readonly nodeUrl: string | null
  /** Hands all sessions over to other nodes of a cluster: turns may end first, until `signal` aborts. */
  drain(signal: AbortSignal): Promise<void>
}

/** Creates the methods of an opened runtime; `close` closes its parts. */
export function createHoldfast(
  registry: SessionRegistry,
  { location, home, environment, openWriterPort, parts, tokens, rateLimit, drain }: HoldfastParts,
  close: () => Promise<void>,
): ServedHoldfast {
  const sessions = createLocalSessions(registry)
  const { admin, close: closeAdmin } = createAdmin(location, registry.deps.clock.now, environment)
  const exportPieces = createExport(registry)
  const stored = createStoredSessions({ registry, location, home })
  const common = createHoldfastMethods(sessions, {
    now: registry.deps.clock.now,
    export: exportPieces,
    tokens,
    ...parts,
  })
  const withNotifier = async (session: Promise<Session>, notifier: Notifier | undefined) => {
    const { id } = await session
    if (notifier) registry.notify(id, notifier)
    return session
  }
  const imports = createImports(registry, sessions, openWriterPort)
  const conversationPool = createConversationPool(registry)
  const closeAll = () => Promise.all([imports.close(), closeAdmin()]).then(close, close)

  return {
    ...common,
    handles: sessions,
    liveTokens: tokens,
    rateLimit,
    drain,
    tenants: tenantsOf(registry),
    nodeUrl: registry.deps.cluster ? registry.deps.node.address : null,
    serverParts: { ...parts, stats: (options) => toResult(() => admin.stats(options)) },
    ready: () => checkReady(registry),
    ...stored,
    ...admin,
    export: exportPieces,
    import: async (from, options) => importFrom(imports.run, from, readImportOptions(options)),
    startSession: async (options) => {
      const { notifier, ...given } = readStart(options)
      return withNotifier(common.startSession(given), notifier)
    },
    getOrCreate: async (key, options) => {
      const { notifier, ...given } = readStart(options)
      return withNotifier(common.getOrCreate(key, given), notifier)
    },
    listSessions: () =>
      registry.all().map(({ id, folded }) => ({
        session: createSession(createLocalSession(registry, id)),
        metadata: registry.withAttachments(folded().row.entry.meta),
      })),
    conversations: (options) => createConversations(conversationPool, options),
    close: closeAll,
    [Symbol.asyncDispose]: closeAll,
  }
}

function tenantsOf(registry: SessionRegistry): ServerTenants | null {
  const files = registry.deps.store.tenants
  return files ? { files, sessions: (tenant) => createLocalSessions(registry, tenant) } : null
}

/** Returns the options of a start. Refuses a notifier that cannot be called: bad_request. */
function readStart(options: LocalStartOptions | undefined): LocalStartOptions {
  const given = requireOptions(options)
  if (given.notifier === undefined || typeof given.notifier === 'function') return given
  throw new HoldfastError(fault('bad_request', 'The option notifier must be a function.'))
}

/** Creates the export of sessions, which reads them without loading them. */
function createExport({ stores, deps }: SessionRegistry): Holdfast['export'] {
  return async function* (name, given = {}) {
    const options = orThrow(parseOptions(ExportOptions, given, 'export'))
    const found = await findSession(stores, name)
    // A key may have any form, also one that is no session name.
    const byKey = found.ok || found.fault.code === 'session_trashed' ? found : await findByKey(stores, name)
    const id = (byKey.ok ? byKey.value : null) ?? orThrow(found)
    yield* exportSession(createExportSource(stores.storeOf(id), deps.blobs, id, deps.isAlive), options)
  }
}

type ImportSource = Parameters<Holdfast['import']>[0]
type RunImport = ReturnType<typeof createImports>['run']

/** Imports paths as they are, and bytes from files in a folder that is removed afterwards. */
async function importFrom(
  run: RunImport,
  from: ImportSource,
  options?: ImportOptions,
): Promise<readonly ImportedFile[]> {
  const sources: readonly (string | ImportFile)[] =
    typeof from === 'string' || !Array.isArray(from) ? [from as string | ImportFile] : from
  if (sources.every((source) => typeof source === 'string')) return run(sources, options)
  const files = orThrow(parseImportFiles(from))
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-import-'))
  try {
    const results: ImportedFile[] = []
    for (const [index, { file, companion }] of pairImportFiles(files).entries()) {
      const names = new Map<string, string>()
      for (const { name, bytes } of companion ? [file, companion] : [file]) {
        const path = join(folder, String(index), safeFileName(name))
        names.set(path, name)
        await mkdir(dirname(path), { recursive: true })
        await writeFile(path, bytes, { mode: 0o600 })
      }
      const imported = await run([...names.keys()], options)
      results.push(...imported.map((result) => withoutPath(result, names.get(result.file) ?? file.name, result.file)))
    }
    return results
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns the result of bytes as a server does: the file is named as given, and a file that was not imported failed. */
function withoutPath(result: ImportedFile, file: string, path: string): ImportedFile {
  if (!result.fault) return { ...result, file }
  const unread = { ...result, file, format: null, status: 'failed', session: null, messages: 0, remarks: [] } as const
  return { ...unread, fault: publicImportFault(result.fault, path) }
}

/** Runs the imports of this process, each on a thread, one after the other; `close` stops them. */
const createImports = (registry: SessionRegistry, sessions: LocalSessions, openWriterPort: OpenWriterPort | null) =>
  createImportQueue((paths, options) => {
    const defaultModel = registry.deps.models.defaultModel()
    return runImportThread({ host: createImportHost(registry, sessions), defaultModel, openWriterPort }, paths, options)
  })
