import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { orThrow } from '@holdfast/protocol'
import { number, type Row } from '../table.ts'
import { startCrowd } from './parts/crowd.ts'
import { eventsPath, type LoadServer, startLoadServer } from './parts/load-server.ts'
import { openViewer } from './parts/viewer.ts'
import { type Gone, goneWithinSeconds, waitUntilGone } from './parts/wait-until-gone.ts'
import type { Scenario } from './scenario.ts'

const run = promisify(execFile)
/** More than the buffers of the system and of the stream hold for one client. */
const producedBytes = 24 * 1024 ** 2

/** Clients end without closing their connection properly. The server must notice each. */
export const leaveHalfOpen: Scenario = async ({ dir, isQuick }) => {
  const clients = isQuick ? 10 : 100
  await using server = await startLoadServer(dir)
  const ended = await endHalf(server, clients)
  const stopped = isQuick ? null : await stopProcess(server, clients)
  const vanished = isQuick ? null : await vanish(dir, clients)
  const all = [
    { what: `${clients} clients closed their side only`, ...ended },
    ...(stopped ? [{ what: `${clients} clients were stopped (SIGSTOP) while events came`, ...stopped }] : []),
    ...(vanished ? [{ what: `${clients} clients vanished from the network`, ...vanished }] : []),
  ]
  return {
    figures: { ended, stopped, vanished },
    rows: all.map(rowOf),
    violations: all.flatMap(({ what, left }) => (left > 0 ? [`${what}: ${left} are still connected`] : [])),
  }
}

const rowOf = ({ what, seconds, left }: Gone & { readonly what: string }): Row => ({
  what: `${what}: gone after`,
  figure: left > 0 ? `${left} still connected` : `${number(seconds, 1)} s`,
  goal: `≤ ${goneWithinSeconds} s`,
  holds: left === 0 && seconds <= goneWithinSeconds,
})

/** Each client sends FIN and goes on waiting: the connection of the server is in CLOSE_WAIT. */
async function endHalf(server: LoadServer, clients: number): Promise<Gone> {
  const handle = await server.start()
  const { connections } = await server.look()
  const target = server.target(eventsPath(handle))
  const viewers = Array.from({ length: clients }, () => openViewer({ ...target, allowHalfOpen: true }, () => undefined))
  await Promise.all(viewers.map((viewer) => viewer.until(({ events }) => events.has('snapshot'))))
  for (const { socket } of viewers) socket.end()
  const gone = await waitUntilGone(server, connections)
  for (const { socket } of viewers) socket.destroy()
  return gone
}

/** The process of the clients is stopped: the system takes what fits into its buffers, and nobody reads it. */
async function stopProcess(server: LoadServer, clients: number): Promise<Gone> {
  await using crowd = startCrowd()
  const handle = await server.start()
  const { connections } = await server.look()
  await crowd.open(server.target(eventsPath(handle)), clients)
  crowd.process.kill('SIGSTOP')
  const stoppedAt = performance.now()
  const data = 'x'.repeat(256 * 1024)
  for (let sent = 0; sent < producedBytes / data.length; sent++)
    orThrow(await handle.submit({ type: 'appendClientEvent', event: { eventId: String(sent), type: 'load', data } }))
  return waitUntilGone(server, connections, stoppedAt)
}

/** Returns the result of clients that vanish; null where no network of its own can be made for them. */
async function vanish(dir: string, clients: number): Promise<Gone | null> {
  const file = join(import.meta.dirname, 'parts/vanishing.ts')
  try {
    const { stdout } = await run('unshare', ['-rn', process.execPath, file, dir, String(clients)])
    return JSON.parse(stdout)
  } catch (cause) {
    process.stderr.write(`No clients could vanish: ${cause}\n`)
    return null
  }
}
