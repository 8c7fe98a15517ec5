import { existsSync } from 'node:fs'
import { connectHoldfast } from '@holdfast/client'
import type { OnProblem, Problem } from '@holdfast/core/ports'
import { ok, type Result, refuse, type Sessions } from '@holdfast/protocol'
import { escapeHidden } from '@holdfast/protocol/hostile-text'
import { createProblemLogger } from '../../observe/logging/problem-logger.ts'
import { maskKeys } from '../../system/secrets/known-keys.ts'
import type { CliContext } from '../context/cli-context.ts'
import { diskStoreOf, isOfServer, missingStore } from './resolve-store.ts'
import { readServerFile, readToken, type ServerFile } from './server-file.ts'
import { checkName, noSession } from './session-name.ts'

const answerMsMax = 2000

/** The sessions a command acts on: the running server's if there is one, else those of a runtime in this process. */
export interface ReachedSessions {
  readonly sessions: Sessions
  /** Whether the work goes on when this process ends. */
  readonly isElsewhere: boolean
  /** Lets go of a session in this process, where many are touched; a server sees to that itself. */
  leave(id: string): Promise<void>
  close(): Promise<void>
}

/** `isDefaultTaken`: whether a session will be started with the default model. */
export async function reachSessions(
  place: CliContext,
  { isDefaultTaken = false }: { readonly isDefaultTaken?: boolean } = {},
): Promise<Result<ReachedSessions>> {
  const server = await findServer(place)
  const isServed = server === null ? ok(false) : isOfServer(place, server)
  if (!isServed.ok) return isServed
  if (server && isServed.value) {
    const sessions = connectHoldfast({ url: server.url, token: readToken(server) })
    return ok({ sessions, isElsewhere: true, leave: async () => undefined, close: async () => undefined })
  }
  const { open } = await import('../../open.ts') // brings every provider and tool, which the server's client does not need
  const opened = await open({
    store: place.store,
    environment: place.environment,
    isDefaultTaken,
    ...runtimeObservers(place),
  })
  if (!opened.ok) return opened
  const { sessions, stopSession: leave, close } = opened.value
  return ok({ sessions, isElsewhere: false, leave, close })
}

/** Whether there is a server, or a store: where there is neither, nothing is made to look into it. */
export function hasSessions(place: CliContext): Result<boolean> {
  const missing = missingStore(place)
  if (missing !== null) return refuse(missing)
  if (readServerFile(place.home)) return ok(true)
  const store = diskStoreOf(place)
  return store.ok ? ok(existsSync(store.value.path)) : store
}

/** Refuses a name of no form, and any name where there is neither a server nor a store, before anything is made. */
export function checkNamed(place: CliContext, name: string): Result<null> {
  const form = checkName(place, name)
  if (!form.ok) return form
  const missing = missingStore(place)
  if (missing !== null) return refuse(missing)
  if (readServerFile(place.home)) return form
  const store = diskStoreOf(place)
  if (!store.ok) return store
  return existsSync(store.value.path) ? form : noSession(name)
}

/** The server that `server.json` names, if it answers. The token is not shown to whoever may listen there now. */
export async function findServer({ home }: Pick<CliContext, 'home'>): Promise<ServerFile | null> {
  const server = readServerFile(home)
  if (!server) return null
  const fetchSoon: typeof fetch = (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(answerMsMax) })
  const health = await connectHoldfast({ url: server.url, fetch: fetchSoon }).health()
  return health.ok ? server : null
}

/** What a runtime of this process tells us: all of it in the log where there is one, else problems alone. */
export const runtimeObservers = (place: CliContext) =>
  place.logger ? { logger: place.logger } : { onProblem: tellProblem(place) }

/** Says what nobody foresaw: in the log, or else where whoever runs the program sees it. */
export const tellProblem = (place: CliContext): OnProblem =>
  place.logger ? createProblemLogger(place.logger) : (problem) => printProblem(problem, place)

function printProblem({ where, cause }: Problem, { err }: CliContext): void {
  const what = cause instanceof Error ? (cause.stack ?? cause.message) : JSON.stringify(cause)
  void err.write(escapeHidden(maskKeys(`Problem in ${where}: ${what}\n`)))
}
