import { connectHoldfast, connectSessions, type RemoteHoldfast } from '@holdfast/client'
import type { OnProblem, Problem } from '@holdfast/core/ports'
import {
  type FoundPaths,
  fault,
  ok,
  orThrow,
  type Result,
  refuse,
  type SessionHandle,
  type Sessions,
  type SpendingCaps,
  sessionNotFound,
  type Tokens,
} from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { toResult } from '../../admin/jobs/admin.ts'
import { createProblemLogger } from '../../observe/logging/problems.ts'
import { maskKeys } from '../../system/secrets/known-keys.ts'
import type { CliContext, GivenServer } from '../terminal/cli-context.ts'
import { type CommandResult, failWith } from '../terminal/exit.ts'
import { isServedStore, isStoreThere, rejectMissingStore } from './resolve-store.ts'
import { fetchFromServer, isServing, readServerFile, readToken, type ServerFile } from './server-file.ts'
import { checkName, openNamed } from './session-name.ts'

const healthMsMax = 2000

/** The sessions a command acts on: those of the running server, else those of a runtime in this process. */
export interface ReachedSessions {
  readonly sessions: Sessions
  /** Whether a server runs the sessions, so that work goes on when this process ends. */
  readonly isRemote: boolean
  /** Whether this process runs the session. Without a server, another process may run it. */
  isHere(id: string): boolean
  /** Completes a path of the working directory of a session, for a person who types it. */
  completePath(handle: SessionHandle, text: string): Promise<Result<FoundPaths>>
  /** Unloads a session from this process; does nothing on a server, which unloads its own. */
  unload(id: string): Promise<void>
  close(): Promise<void>
}

/** Runs `work` on the sessions, then closes them. */
export async function withSessions(
  context: CliContext,
  work: (reached: ReachedSessions) => Promise<CommandResult>,
): Promise<CommandResult> {
  const reached = orThrow(await reachSessions(context))
  return work(reached).finally(reached.close)
}

/** Runs `work` on the sessions, or on null if there is neither a server nor a store, so that none is created. */
export const withExistingSessions = (
  context: CliContext,
  work: (reached: ReachedSessions | null) => Promise<CommandResult>,
): Promise<CommandResult> => (hasSessions(context) ? withSessions(context, work) : work(null))

/** Opens the sessions. `usesDefaultModel` says that one will be started with the default model. */
export async function reachSessions(
  context: CliContext,
  options: { readonly usesDefaultModel?: boolean } = {},
): Promise<Result<ReachedSessions>> {
  if (context.server) return ok(reachServer(context.server, connectSessions(context.server)))
  const server = await findServer(context)
  const isServed = server === null ? ok(false) : isServedStore(context, server)
  if (!isServed.ok) return isServed
  if (server && isServed.value) {
    const given = { url: server.url, token: readToken(server) }
    return ok(reachServer(given, connectSessions({ ...given, fetch: fetchFromServer(context.home) })))
  }
  const { open } = await import('../../open.ts') // loads every provider and tool, which a client of a server does not need
  const { store, environment } = context
  const opened = await open({ store, environment, ...options, ...runtimeObservers(context) })
  if (!opened.ok) return opened
  const { handles: sessions, stopSession: unload, close, listSessions, serverParts } = opened.value
  const isHere = (id: string) => listSessions().some(({ session }) => session.id === id)
  const completePath: ReachedSessions['completePath'] = (handle, text) =>
    serverParts.paths.inSession(handle, { text, limit: completionsMax, signal: AbortSignal.timeout(completionMsMax) })
  return ok({ sessions, isRemote: false, isHere, completePath, unload, close })
}

const completionsMax = 50
const completionMsMax = 3000

/** Returns the sessions of a server. */
const reachServer = (server: GivenServer, sessions: Sessions): ReachedSessions => ({
  sessions,
  isRemote: true,
  isHere: () => false,
  completePath: ({ id }, text) => toResult(() => connectHoldfast(server.url, server.token).completePath(id, text)),
  unload: async () => undefined,
  close: async () => undefined,
})

/** Returns whether there is a server or a store. */
function hasSessions(context: CliContext): boolean {
  if (context.server) return true
  rejectMissingStore(context)
  return readServerFile(context.home) !== null || isStoreThere(context)
}

/** Rejects a malformed name, and any name if there is neither a server nor a store, before anything is created. */
export function checkNamed(context: CliContext, name: string): void {
  orThrow(checkName(context, name))
  if (!hasSessions(context)) failWith(sessionNotFound(name))
}

/** Runs `use` on the session with this name, then closes the sessions. Creates no store. */
export async function withNamedSession(
  context: CliContext,
  name: string,
  use: (handle: SessionHandle, reached: ReachedSessions) => Promise<CommandResult>,
): Promise<CommandResult> {
  checkNamed(context, name)
  return withSessions(context, async (reached) =>
    use(orThrow(await openNamed(reached.sessions, context, name)), reached),
  )
}

/**
 * Returns the server of `server.json` if it still runs and answers. Only then may the token be sent: after a crash another
 * program may listen there.
 */
export async function findServer({ home }: Pick<CliContext, 'home'>): Promise<ServerFile | null> {
  const server = readServerFile(home)
  if (!server || !isServing(home, server)) return null
  const fetchSoon: typeof fetch = (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(healthMsMax) })
  const health = await connectSessions({ url: server.url, fetch: fetchSoon }).health()
  return health.ok ? server : null
}

/**
 * Connects to the server of `--url`, else to the running one of this home, as an admin. Fails if there is none, or if it
 * has another store.
 */
export async function connectServer(
  context: CliContext,
): Promise<{ readonly url: string; readonly holdfast: RemoteHoldfast }> {
  if (context.server)
    return { url: context.server.url, holdfast: connectHoldfast(context.server.url, context.server.token) }
  const server = await findServer(context)
  if (server === null) return failWith(noServer)
  if (!orThrow(isServedStore(context, server))) return failWith(otherStore(server))
  return { url: server.url, holdfast: connectHoldfast(server.url, readToken(server)) }
}

const noServer = fault('unreachable', 'No server of this home directory is running. Start one: holdfast serve')

const otherStore = ({ url, store }: ServerFile) =>
  fault('unreachable', `The server at ${url} has another store. Leave out --store, or give ${store ?? 'none'}.`, {
    url,
  })

/**
 * Runs `work` on the tokens: at the server of `--url`, the running one of this home, or in the store. Only `creates` makes a
 * store that is missing.
 */
export async function withTokens(
  context: CliContext,
  { creates }: { readonly creates: boolean },
  work: (tokens: Tokens, sessions: Sessions | null) => Promise<void>,
): Promise<CommandResult> {
  const far = await findFar(context)
  if (far) {
    const { tokens, handles } = connectHoldfast(far.url, far.token)
    const there: Tokens = {
      create: (options) => toResult(() => tokens.create(options)),
      list: () => toResult(() => tokens.list()),
      revoke: (name) => toResult(() => tokens.revoke(name)),
      revokeLogins: () => toResult(() => tokens.revokeLogins()),
    }
    await work(there, handles)
    return undefined
  }
  if (!creates && !hasSessions(context)) {
    const none: Tokens = {
      create: async () => refuse(noServer),
      list: async () => ok([]),
      revoke: async (name) => refuse(noToken(name)),
      revokeLogins: async () => ok({ ended: 0 }),
    }
    await work(none, null)
    return undefined
  }
  const { open } = await import('../../open.ts')
  const { store, environment } = context
  const opened = orThrow(await open({ store, environment, ...runtimeObservers(context) }))
  await work(opened.liveTokens, opened.handles).finally(opened.close)
  return undefined
}

/** Returns the server of `--url`, else the running one of this home if it has the store; null if the store is opened here. */
async function findFar(context: CliContext): Promise<GivenServer | null> {
  if (context.server) return context.server
  const running = await findServer(context)
  const isServed = running !== null && orThrow(isServedStore(context, running))
  return isServed ? { url: running.url, token: readToken(running) } : null
}

const noToken = (name: string) => fault('not_found', `There is no token ${escapeLine(name)}.`, { name })

/** Makes a running server read keys and model facts again. Returns a sentence about that, or null without a server. */
export async function refreshServer(context: CliContext): Promise<string | null> {
  const server = await findServer(context)
  if (!server) return null
  const refreshed = await connectSessions({ url: server.url, token: readToken(server) }).refreshCredentials()
  return refreshed.ok
    ? `The server at ${server.url} uses the change now.`
    : `The server at ${server.url} did not take over the change: ${refreshed.fault.message} Restart it.`
}

/** Returns the observers for a runtime of this process: the log if there is one, else problems on standard error. */
export const runtimeObservers = (context: CliContext) =>
  context.logger ? { logger: context.logger } : { onProblem: reportProblem(context) }

/** Reports unexpected errors to the log, or to standard error without one. */
export const reportProblem = (context: CliContext): OnProblem =>
  context.logger ? createProblemLogger(context.logger) : (problem) => printProblem(problem, context)

function printProblem({ where, cause }: Problem, { err }: CliContext): void {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : JSON.stringify(cause)
  void err.write(escapeHidden(maskKeys(`Problem in ${where}: ${text}\n`)))
}

/**
 * Runs `work` on what was spent: at the server of `--url`, the running one of this home, or in the store. Only `creates`
 * makes a store that is missing.
 */
export async function withSpending(
  context: CliContext,
  { creates }: { readonly creates: boolean },
  work: (spending: SpendingCaps) => Promise<void>,
): Promise<CommandResult> {
  const far = await findFar(context)
  if (far) {
    const holdfast = connectHoldfast(far.url, far.token)
    await work({
      read: (options) => toResult(() => holdfast.spending(options)),
      set: (cap) => toResult(() => holdfast.setCap(cap)),
      remove: (scope) => toResult(() => holdfast.removeCap(scope)),
    })
    return undefined
  }
  if (!creates && !hasSessions(context)) {
    const missing = async () =>
      refuse(fault('not_found', 'There is no store yet, so nothing was spent and there are no caps.'))
    await work({ read: missing, set: missing, remove: missing })
    return undefined
  }
  const { open } = await import('../../open.ts')
  const { store, environment } = context
  const opened = orThrow(await open({ store, environment, ...runtimeObservers(context) }))
  await work(opened.serverParts.spending).finally(opened.close)
  return undefined
}
