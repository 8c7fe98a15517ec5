import {
  type ExportOptions,
  type FolderLister,
  type FoundPaths,
  fault,
  type HookLister,
  type ImportAnswer,
  type ModelSettings,
  type OfferTrust,
  ok,
  type PermissionRules,
  type Result,
  refuse,
  type SessionHandle,
  type SpendingCaps,
  type Stats,
  type StatsOptions,
  type ToolLister,
} from '@holdfast/protocol'

/** The parts of the program behind groups of routes. A server may do without each: the routes then refuse. */
export type ServerParts = {
  readonly transfer: Transfer
  /** Counts what the store holds. */
  readonly stats: (options: StatsOptions) => Promise<Result<Stats>>
  /** What was spent, and the caps. */
  readonly spending: SpendingCaps
  /** The permission rules of the user. */
  readonly permissions: PermissionRules
  readonly trust: OfferTrust
  readonly hooks: HookLister
  readonly tools: ToolLister
  /** What sessions of a folder can use. */
  readonly folders: FolderLister
  readonly paths: PathCompleter
  readonly fileAccess: FileAccess
  /** Keys of providers and the default model. */
  readonly modelSettings: ModelSettings
}

type ImportChoice = {
  readonly from?: string | undefined
  readonly keepSettings?: boolean | undefined
  /** Stops the import, for example when the client leaves. */
  readonly signal?: AbortSignal | undefined
}

/** Exports and imports whole sessions. */
export interface Transfer {
  /** Exports a session piece by piece, without opening it. */
  export(name: string, options: ExportOptions): Promise<Result<AsyncIterable<string>>>
  /** Takes a place among the imports of the server; dispose it when the import has ended. Refused: server_busy. */
  admitImport(): Result<Disposable>
  /** Imports the sessions of a file, after the imports before it. The file is only read. Refused: import_stopped. */
  importFile(path: string, options: ImportChoice): Promise<Result<ImportAnswer['files']>>
}

type AskedSession = Pick<SessionHandle, 'id' | 'state'>
type Typed = { readonly text: string; readonly limit: number }

/** Completes paths that people type. */
export type PathCompleter = {
  /** Returns files and folders of the workdir of a session. Refused: workdir_needed. */
  inSession(handle: AskedSession, typed: Typed & { readonly signal: AbortSignal }): Promise<Result<FoundPaths>>
  /** Returns files and folders of a folder in which a session could be started. Refused: bad_workdir. */
  inFolder(workdir: string, typed: Typed & { readonly signal: AbortSignal }): Promise<Result<FoundPaths>>
  /** Returns folders below an absolute path; for an empty text the folder of the server. Refused: bad_workdir. */
  folders(typed: Typed): Promise<Result<FoundPaths>>
}

/** Decides which files of the workdir of a session clients without an admin token may read. */
export type FileAccess = {
  /** Checks that no rule keeps a file from `read_file`. Refused: not_driver, workdir_needed. */
  check(handle: AskedSession, path: string): Promise<Result<undefined>>
}

const lacks = (what: string) => async (): Promise<Result<never>> => refuse(fault('not_found', `This server ${what}.`))

const noTransfer = lacks('has no export and no import')
const noSums = lacks('does not know what was spent')
const noRules = lacks('has no permission rules')
const noTrust = lacks('knows no workspaces')
const noLists = lacks('lists nothing of folders')
const noPaths = lacks('completes no paths')
const noSettings = lacks('keeps no keys and no default model')

/** Stands for the parts that a server does without. */
export const absentParts: ServerParts = {
  transfer: {
    export: noTransfer,
    importFile: noTransfer,
    admitImport: () => ok({ [Symbol.dispose]: () => undefined }),
  },
  stats: lacks('has no statistics'),
  spending: { read: noSums, set: noSums, remove: noSums },
  permissions: { list: noRules, add: noRules, remove: noRules },
  trust: { offers: noTrust, grant: noTrust, revoke: noTrust, list: noTrust },
  hooks: { list: lacks('lists no hooks') },
  tools: { list: lacks('lists no tools') },
  folders: { skills: noLists, agents: noLists, servers: noLists, commands: noLists },
  paths: { inSession: noPaths, inFolder: noPaths, folders: noPaths },
  fileAccess: { check: lacks('has no rules for files, and shows them only with an admin token') },
  modelSettings: { saveKey: noSettings, removeKey: noSettings, setDefault: noSettings },
}
