import {
  type Access,
  clip,
  type DefaultModel,
  ExportOptions,
  escapeLine,
  type Fault,
  type FaultCode,
  type FoundPaths,
  fault,
  type GivenKey,
  HoldfastError,
  ImportAnswer,
  ImportChoice,
  type ImportFile,
  type ImportResult,
  type LoginLink,
  limits,
  NewsOptions,
  orThrow,
  pairImportFiles,
  parseImportFiles,
  parseOptions,
  parseSessionName,
  type RemovedKey,
  refuse,
  type SavedKey,
  type SharedSession,
  type ShareOptions,
  Stats,
  StatsOptions,
} from '@holdfast/protocol'
import { byName } from '../holdfast/by-name.ts'
import { createHoldfastMethods, type HoldfastMethods } from '../holdfast/holdfast-methods.ts'
import type { FollowNewsOptions } from '../http/follow.ts'
import { chunksOf, type Http, parseAnswer, queryOf } from '../http/http.ts'
import { readOptions, requireOptions } from '../session/arguments.ts'
import {
  type ConnectOptions,
  connectWire,
  createRemoteSessions,
  type Health,
  type RemoteSessions,
} from './connect-sessions.ts'
import { createRemoteFolderLists } from './remote-folder-lists.ts'
import { createRemoteModelSettings } from './remote-model-settings.ts'
import { createRemoteHooks, createRemoteOfferTrust } from './remote-offer-trust.ts'
import { completeFolder, completeInFolder, completePath } from './remote-paths.ts'
import { createRemotePermissions } from './remote-permissions.ts'
import { createRemoteSpending } from './remote-spending.ts'
import { createLoginLink, createRemoteTokens, logIn, logOut, readAccess, shareSession } from './remote-tokens.ts'
import { createRemoteTools } from './remote-tools.ts'

/** The runtime of a server, with the methods of the one that `openHoldfast` returns. */
export interface RemoteHoldfast extends HoldfastMethods {
  readonly handles: RemoteSessions
  /** Reconnects automatically; load the list again to see what was missed. */
  subscribe(options?: FollowNewsOptions): ReturnType<HoldfastMethods['subscribe']>
  /** Returns the version of the server, if it answers. */
  health(): Promise<Health>
  /**
   * Creates a link that shows one session, and nothing else, to anyone with the link. `tokens.revoke` ends it. It needs an admin
   * token. Refused: session_not_found.
   */
  share(name: string, options?: ShareOptions): Promise<SharedSession>
  /** Creates a link that logs a browser in. It works once, for ten minutes, and needs an admin token. */
  createLoginLink(): Promise<LoginLink>
  /** Tells what the token or login of this client may do. Refused: unauthorized. */
  access(): Promise<Access>
  /** Exchanges a token for the cookie of this page. Only a page of the server can use the cookie. Refused: unauthorized. */
  logIn(token: string): Promise<Access>
  /** Ends the login of this page at the server, and its streams. Refused: bad_request for a client with a token, storage_error. */
  logOut(): Promise<void>
  /** Completes the absolute path of a folder on the server, to work in; an empty text gives its own. Refused: bad_workdir. */
  completeFolder(text: string): Promise<FoundPaths>
  /** Completes a path of a folder on the server, for a mention in a first prompt; the best first. Refused: bad_workdir. */
  completeInFolder(workdir: string, text: string): Promise<FoundPaths>
  /** Completes a path of the working directory of a session, for a mention; the best first. Refused: workdir_needed. */
  completePath(session: string, text: string): Promise<FoundPaths>
  /**
   * Checks the key of a provider with it, and saves it on the server. It needs an admin token. Refused: bad_request,
   * no_credentials if the provider rejects it, unreachable if it cannot confirm it.
   */
  saveKey(given: GivenKey): Promise<SavedKey>
  /** Removes the stored key of a provider. It needs an admin token. Refused: not_found. */
  removeKey(provider: string): Promise<RemovedKey>
  /** Sets the model of sessions that name none. It needs an admin token. Refused: unknown_model, bad_config. */
  setDefaultModel(model: string): Promise<DefaultModel>
  /** Ends the connection: later calls are refused with session_stopped. The sessions of the server run on. */
  close(): Promise<void>
}

/**
 * Connects to a server. It sends nothing until a method is called. Without a token, the cookie of the page is used. Throws
 * bad_request if the address is not one of HTTP.
 */
export function connectHoldfast(
  url: string,
  token?: string,
  options: Omit<ConnectOptions, 'url' | 'token'> = {},
): RemoteHoldfast {
  const refused = findAddressFault(url, token)
  if (refused !== null) throw new HoldfastError(refused)
  readOptions(options, connectOptions)
  const closing = new AbortController()
  const wire = refuseAfter(closing.signal, connectWire({ ...options, url, token }))
  const handles = createRemoteSessions(wire)
  const exportSession = (name: string, choice?: ExportOptions) => exportPieces(wire, handles, name, choice)
  const modelSettings = createRemoteModelSettings(wire)
  const close = async () => closing.abort()
  return {
    ...createHoldfastMethods(handles, {
      now: Date.now,
      export: exportSession,
      permissions: createRemotePermissions(wire),
      trust: createRemoteOfferTrust(wire),
      hooks: createRemoteHooks(wire),
      tools: createRemoteTools(wire),
      folders: createRemoteFolderLists(wire),
      tokens: createRemoteTokens(wire),
      spending: createRemoteSpending(wire),
    }),
    handles,
    export: exportSession,
    async import(given, choice = {}) {
      const options = orThrow(parseOptions(ImportChoice, choice, 'import'))
      const results: ImportResult[] = []
      for (const { file, companion } of pairImportFiles(orThrow(parseImportFiles(given)))) {
        const imported = await importFile(wire, file, options, companion)
        results.push(...imported)
        // A file that no program would describe so is one of its own.
        const isRead = imported.some(({ format }) => format === 'picoclaw')
        if (companion && !isRead) results.push(...(await importFile(wire, companion, options)))
      }
      return results
    },
    async stats(given = {}) {
      const query = queryOf(orThrow(parseOptions(StatsOptions, given, 'count')))
      return orThrow(parseAnswer(await wire.json(`/v1/stats${query}`), 'a statistics request', Stats))
    },
    health: async () => orThrow(await handles.health()),
    share: async (name, options) => orThrow(await shareSession(wire, name, options)),
    createLoginLink: async () => orThrow(await createLoginLink(wire)),
    access: async () => orThrow(await readAccess(wire)),
    logIn: async (given) => orThrow(await logIn(wire, given)),
    logOut: async () => void orThrow(await logOut(wire)),
    completeFolder: async (text) => orThrow(await completeFolder(wire, text)),
    completeInFolder: async (workdir, text) => orThrow(await completeInFolder(wire, workdir, text)),
    completePath: async (session, text) => orThrow(await completePath(wire, session, text)),
    saveKey: async (given) => orThrow(await modelSettings.saveKey(given)),
    removeKey: async (provider) => orThrow(await modelSettings.removeKey(provider)),
    setDefaultModel: async (model) => orThrow(await modelSettings.setDefault({ model })),
    async *subscribe(given) {
      const { onConnection, ...rest } = requireOptions(given)
      const { signal } = orThrow(parseOptions(NewsOptions, rest, 'subscribe'))
      if (closing.signal.aborted) throw new HoldfastError(closed)
      const stop = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      yield* handles.subscribe({ onConnection, signal: stop })
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

const connectOptions = ['fetch', 'sharedStream', 'pace'] satisfies readonly (keyof ConnectOptions)[]

const closed = fault('session_stopped', 'This runtime is closed.')

/** Returns the connection as it is until `signal` aborts; then it sends nothing more. */
const refuseAfter = (signal: AbortSignal, wire: Http): Http => ({
  pace: wire.pace,
  shared: wire.shared,
  gate: wire.gate,
  json: async (path, ask) => (signal.aborted ? refuse(closed) : wire.json(path, ask)),
  stream: async (path, ask) => (signal.aborted ? refuse(closed) : wire.stream(path, ask)),
})

/** Returns what is wrong with an address and a token, which a program without types may give; null if nothing is. */
function findAddressFault(url: string, token: string | undefined): Fault | null {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    const shown = typeof url === 'string' ? ` ${escapeLine(clip(url, 100))} is none.` : ''
    return fault('bad_request', `Give the address of a server, such as http://127.0.0.1:4820.${shown}`)
  }
  return token === undefined || typeof token === 'string' ? null : fault('bad_request', 'The token must be a text.')
}

async function* exportPieces(
  wire: Http,
  sessions: RemoteSessions,
  name: string,
  given: ExportOptions = {},
): AsyncGenerator<string> {
  const { format, redact } = orThrow(parseOptions(ExportOptions, given, 'export'))
  const query = queryOf({ format, redact: redact || undefined })
  const opened = await byName(sessions, name, async (asked) => {
    const form = parseSessionName(asked)
    return form.ok ? wire.stream(`/v1/sessions/${encodeURIComponent(asked)}/export${query}`) : form
  })
  const body = orThrow(opened)
  const decoder = new TextDecoder()
  for await (const chunk of chunksOf(body)) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}

/** Faults that are about the file and not about the server or the token. */
const fileFaults: ReadonlySet<FaultCode> = new Set(['bad_request', 'too_large'])

async function importFile(
  wire: Http,
  { name, bytes }: ImportFile,
  { keepSettings, signal }: ImportChoice,
  companion?: ImportFile,
): Promise<readonly ImportResult[]> {
  // One that is too large is left out, as an import of a folder does.
  const beside = companion && companion.bytes.length <= limits.companionBytesMax ? companion.bytes : new Uint8Array()
  const query = queryOf({ name, keepSettings: keepSettings || undefined, companionBytes: beside.length || undefined })
  const sent = beside.length === 0 ? bytes : joinBytes(beside, bytes)
  const answer = parseAnswer(await wire.json(`/v1/import${query}`, { bytes: sent, signal }), 'an import', ImportAnswer)
  if (answer.ok)
    return answer.value.files.map(({ remarks, ...file }) => ({
      ...file,
      file: name,
      remarks: remarks.map(({ line = null, ...remark }) => ({ line, ...remark })),
    }))
  if (!fileFaults.has(answer.fault.code)) throw new HoldfastError(answer.fault)
  return [failed(name, answer.fault)]
}

function joinBytes(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

const failed = (file: string, why: Fault): ImportResult => ({
  file,
  format: null,
  status: 'failed',
  session: null,
  messages: 0,
  remarks: [],
  fault: why,
})
