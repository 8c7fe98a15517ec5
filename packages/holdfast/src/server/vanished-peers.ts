import { readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { isIPv4, type Socket } from 'node:net'

const checkEveryMs = 5000
/** How long a peer may acknowledge nothing that was sent to it again and again. */
const silentMsMax = 20_000
/** Fewer repeats happen on a bad network. */
const repeatsMin = 3

type Watched = {
  readonly connections: () => Iterable<Socket>
  /** Returns the TCP table of the system, as Linux writes it in /proc/net/tcp and /proc/net/tcp6. */
  readonly readTable?: () => Promise<string>
  readonly now?: () => number
}

/**
 * Cuts connections whose peer vanished without a word: it lost its network or its power. The system would send a
 * heartbeat to it again for 15 minutes, and Node does not learn that. Linux tells it in its TCP table; elsewhere such a
 * connection stays until the system gives up.
 */
export function cutVanishedPeers(server: Server, watched: Watched): void {
  const check = createVanishedCheck(watched)
  let timer: NodeJS.Timeout | undefined
  const next = () => {
    timer = setTimeout(() => check(portOf(server)).then(next), checkEveryMs).unref()
  }
  server.once('listening', next)
  server.once('close', () => clearTimeout(timer))
}

/** Returns a function that looks at the table once, and cuts peers that were silent long enough by then. */
export function createVanishedCheck({ connections, readTable = readTcpTable, now = () => performance.now() }: Watched) {
  let silentSince = new Map<Socket, number>()
  return async (port: number): Promise<void> => {
    const open = [...connections()]
    if (open.length === 0) return silentSince.clear()
    const silent = findSilent(await readTable(), port)
    const before = silentSince
    silentSince = new Map()
    if (silent.size === 0) return
    for (const socket of open) {
      if (!silent.has(`${toTableAddress(socket.remoteAddress ?? '')}:${socket.remotePort}`)) continue
      const since = before.get(socket) ?? now()
      if (now() - since >= silentMsMax) socket.destroy()
      else silentSince.set(socket, since)
    }
  }
}

const portOf = (server: Server): number => {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function readTcpTable(): Promise<string> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'latin1').catch(() => '')), // not Linux, or no IPv6
  )
  return tables.join('\n')
}

/** Returns the peers of established connections of a port that acknowledge nothing, as `address:port`. */
function findSilent(table: string, port: number): ReadonlySet<string> {
  const local = port.toString(16).toUpperCase().padStart(4, '0')
  // local address, remote address, state 01, bytes that wait in both directions, timer, repeats
  const row = new RegExp(`:${local} ([0-9A-F]+):([0-9A-F]{4}) 01 ([0-9A-F]{8}):[0-9A-F]{8} \\S+ ([0-9A-F]{8})`, 'g')
  const silent = new Set<string>()
  for (const [, address = '', remotePort = '', waiting = '', repeats = ''] of table.matchAll(row))
    if (Number.parseInt(waiting, 16) > 0 && Number.parseInt(repeats, 16) >= repeatsMin)
      silent.add(`${address}:${Number.parseInt(remotePort, 16)}`)
  return silent
}

/** Returns an address as the table spells it: words of 32 bits in the order of the machine's bytes. */
export function toTableAddress(address: string): string {
  const bytes = isIPv4(address) ? address.split('.').map(Number) : bytesOfIPv6(address)
  const words = []
  for (let at = 0; at < bytes.length; at += 4) words.push(bytes.slice(at, at + 4).reverse())
  return words
    .flat()
    .map((byte) => byte.toString(16).toUpperCase().padStart(2, '0'))
    .join('')
}

function bytesOfIPv6(address: string): readonly number[] {
  const [text = ''] = address.split('%') // without the zone
  const [, start = text, ipv4] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text) ?? []
  const [head = '', rest] = (ipv4 ? `${start}0:0` : start).split('::')
  const groups = (part: string) => part.split(':').flatMap((one) => (one === '' ? [] : [Number.parseInt(one, 16)]))
  const [left, right] = [groups(head), groups(rest ?? '')]
  const all = [...left, ...Array<number>(Math.max(0, 8 - left.length - right.length)).fill(0), ...right]
  const bytes = all.flatMap((group) => [group >> 8, group & 255])
  return ipv4 ? [...bytes.slice(0, 12), ...ipv4.split('.').map(Number)] : bytes
}
