import type { Fault } from '@holdfast/protocol'
import { findServer, reachSessions } from '../../connect/connect.ts'
import { readServerFile } from '../../connect/server-file.ts'
import type { App } from './app-state.ts'

/** How often a lost server is looked for, and how long one that does not come back is waited for. */
const lookMs = 500
const waitMs = 4000

/** How a server and its sessions are reached. */
type Connect = { readonly findServer: typeof findServer; readonly reachSessions: typeof reachSessions }

/**
 * Recovers from a server that went away. If it comes back at its address, the stream connects again by itself. If it comes
 * back at another one, or stays away, the session is opened anew: there, or in this process.
 */
export function watchServer(app: App, connect: Connect = { findServer, reachSessions }): void {
  if (!app.reached?.isRemote || app.context.server) return // a server of `--url` is only waited for
  let timer: NodeJS.Timeout | null = null
  let url = readServerFile(app.context.home)?.url
  let isLooking = false
  let refusal = ''

  async function look(): Promise<void> {
    if (app.lostAt === null) return stop()
    if (isLooking) return // a refusal may take long; the next look comes after it
    isLooking = true
    try {
      if (await isToReopen()) await reopen()
    } finally {
      isLooking = false
    }
  }

  /** Returns whether the server is elsewhere now, or stays away. */
  async function isToReopen(): Promise<boolean> {
    const server = await connect.findServer(app.context)
    if (app.lostAt === null) return false
    return server === null ? app.context.now() - app.lostAt > waitMs : server.url !== url
  }

  async function reopen(): Promise<void> {
    const id = app.handle?.id
    if (id === undefined) return
    const reached = await connect.reachSessions(app.context)
    if (!reached.ok) return tell(reached.fault)
    const handle = await reached.value.sessions.open(id)
    if (!handle.ok || app.lostAt === null) {
      if (!handle.ok) tell(handle.fault)
      return void reached.value.close()
    }
    await app.reached?.close()
    app.reached = reached.value
    url = readServerFile(app.context.home)?.url
    refusal = ''
    app.host.notice(
      reached.value.isRemote
        ? 'Connected to the new server.'
        : 'The server did not come back. The session goes on in this process.',
    )
    app.show(handle.value)
    stop()
  }

  /** Says why the session cannot be opened, once for each reason. It is tried again. */
  function tell({ message }: Fault): void {
    if (message === refusal) return
    refusal = message
    app.host.notice(`The session cannot be opened again yet: ${message}`, true)
  }

  function stop(): void {
    if (timer) clearInterval(timer)
    timer = null
  }

  app.onLost = () => {
    timer ??= setInterval(() => void look(), lookMs)
  }
}
