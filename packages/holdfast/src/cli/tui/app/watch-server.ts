import { findServer, reachSessions } from '../../connect/connect.ts'
import { readServerFile } from '../../connect/server-file.ts'
import type { App } from './app-state.ts'

/** How often a lost server is looked for, and how long one that does not come back is waited for. */
const lookMs = 500
const waitMs = 4000

/**
 * Recovers from a server that went away. If it comes back at its address, the stream connects again by itself. If it comes
 * back at another one, or stays away, the session is opened anew: there, or in this process.
 */
export function watchServer(app: App): void {
  if (!app.reached?.isRemote || app.context.server) return // a server of `--url` is only waited for
  let timer: NodeJS.Timeout | null = null
  let url = readServerFile(app.context.home)?.url
  let isMoving = false

  async function look(): Promise<void> {
    if (app.lostAt === null || isMoving) return stop()
    const server = await findServer(app.context)
    const isElsewhere = server !== null && server.url !== url
    const isAway = server === null && app.context.now() - app.lostAt > waitMs
    if (!isElsewhere && !isAway) return
    isMoving = true
    await reopen()
    url = readServerFile(app.context.home)?.url
    isMoving = false
  }

  async function reopen(): Promise<void> {
    const id = app.handle?.id
    if (id === undefined) return
    const reached = await reachSessions(app.context)
    if (!reached.ok) return
    const handle = await reached.value.sessions.open(id)
    if (!handle.ok) return void reached.value.close()
    await app.reached?.close()
    app.reached = reached.value
    app.host.notice(
      reached.value.isRemote
        ? 'Connected to the new server.'
        : 'The server did not come back. The session goes on in this process.',
    )
    app.show(handle.value)
    stop()
  }

  function stop(): void {
    if (timer) clearInterval(timer)
    timer = null
  }

  app.onLost = () => {
    timer ??= setInterval(() => void look(), lookMs)
  }
}
