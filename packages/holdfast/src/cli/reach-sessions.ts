import { existsSync } from 'node:fs'
import { connectHoldfast } from '@holdfast/client'
import type { Problem } from '@holdfast/core/ports'
import { ok, type Result, type Sessions } from '@holdfast/protocol'
import { escapeHidden } from '@holdfast/protocol/hostile-text'
import type { Place } from './place.ts'
import { readServerFile, readToken, type ServerFile } from './server-file.ts'
import { checkName, noSession } from './session-name.ts'

const answerMsMax = 2000

/** The sessions a command acts on: the running server's if there is one, else those of a runtime in this process. */
export interface ReachedSessions {
  readonly sessions: Sessions
  /** Whether the work goes on when this process ends. */
  readonly isElsewhere: boolean
  close(): Promise<void>
}

export async function reachSessions(place: Place): Promise<Result<ReachedSessions>> {
  const server = await findServer(place)
  if (server) {
    const sessions = connectHoldfast({ url: server.url, token: readToken(server) })
    return ok({ sessions, isElsewhere: true, close: async () => undefined })
  }
  const { open } = await import('../open.ts') // brings every provider and tool, which the server's client does not need
  const opened = await open({ environment: place.environment, onProblem: tellProblem(place) })
  if (!opened.ok) return opened
  const { sessions, close } = opened.value
  return ok({ sessions, isElsewhere: false, close })
}

/** Refuses a name of no form, and any name where there is neither a server nor a store, before anything is made. */
export function checkNamed(place: Place, name: string): Result<null> {
  const form = checkName(place, name)
  if (!form.ok || existsSync(place.home.storePath) || readServerFile(place.home)) return form
  return noSession(name)
}

/** The server that `server.json` names, if it answers. The token is not shown to whoever may listen there now. */
export async function findServer({ home }: Pick<Place, 'home'>): Promise<ServerFile | null> {
  const server = readServerFile(home)
  if (!server) return null
  const fetchSoon: typeof fetch = (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(answerMsMax) })
  const health = await connectHoldfast({ url: server.url, fetch: fetchSoon }).health()
  return health.ok ? server : null
}

/** Says what nobody foresaw, where whoever runs the program sees it. */
export const tellProblem =
  ({ err }: Place) =>
  ({ where, cause }: Problem): void => {
    const what = cause instanceof Error ? (cause.stack ?? cause.message) : JSON.stringify(cause)
    void err.write(escapeHidden(`Problem in ${where}: ${what}\n`))
  }
