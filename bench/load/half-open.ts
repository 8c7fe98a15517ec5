import { orThrow } from '@holdfast/protocol'
import { number, type Row } from '../table.ts'
import { startCrowd } from './parts/crowd.ts'
import { eventsPath, type LoadServer, startLoadServer } from './parts/load-server.ts'
import { openViewer } from './parts/viewer.ts'
import type { Scenario } from './scenario.ts'

const goneWithinSeconds = 60
/** More than the buffers of the system and of the stream hold for one client. */
const producedBytes = 24 * 1024 ** 2

/** Clients end without closing their connection properly. The server must notice each. */
export const leaveHalfOpen: Scenario = async ({ dir, isQuick }) => {
  const clients = isQuick ? 10 : 100
  await using server = await startLoadServer(dir)
  const ended = await endHalf(server, clients)
  const stopped = isQuick ? null : await stopProcess(server, clients)
  const all = [
    { what: `${clients} clients closed their side only`, ...ended },
    ...(stopped ? [{ what: `${clients} clients were stopped (SIGSTOP) while events came`, ...stopped }] : []),
  ]
  return {
    figures: { ended, stopped },
    rows: all.map(rowOf),
    violations: all.flatMap(({ what, left }) => (left > 0 ? [`${what}: ${left} are still connected`] : [])),
  }
}

type Gone = { readonly seconds: number; readonly left: number }

const rowOf = ({ what, seconds, left }: Gone & { readonly what: string }): Row => ({
  ...{ what: `${what}: gone after`, figure: left > 0 ? `${left} still connected` : `${number(seconds, 1)} s` },
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
  const data = 'x'.repeat(256 * 1024)
  for (let sent = 0; sent < producedBytes / data.length; sent++)
    orThrow(await handle.submit({ type: 'appendClientEvent', event: { eventId: String(sent), type: 'load', data } }))
  return waitUntilGone(server, connections)
}

async function waitUntilGone(server: LoadServer, before: number): Promise<Gone> {
  const start = performance.now()
  for (;;) {
    const seconds = (performance.now() - start) / 1000
    const { connections } = await server.look()
    const left = Math.max(0, connections - before)
    if (left <= 0 || seconds > 1.5 * goneWithinSeconds) return { seconds, left }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
