import { chmod, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { Leases, NodeRow } from '@holdfast/core/ports'
import { uuidv7 } from 'uuidv7'
import { claimPrivateDirectory } from '../files/private-directory.ts'

const greeting = (id: string) => `holdfast ${id}\n`
const answerMsMax = 1000
// A unix socket's path is copied into a field of about this size; longer ones cannot be bound.
const socketPathBytesMax = 100
const socketNameBytes = '/0123456789abcdef.sock'.length
const greetingCharsMax = 200

/** This process as a node: a socket that answers exactly as long as the process lives. */
export interface NodeSocket {
  readonly row: NodeRow
  close(): Promise<void>
}

/** Opens the socket that shows other processes that this one is alive. It needs no clock, heartbeat or process id. */
export async function openNodeSocket(stateDir: string, nowMs: number): Promise<NodeSocket> {
  const id = `node_${uuidv7().replaceAll('-', '')}`
  const address = join(socketDir(stateDir), `${id.slice(-16)}.sock`)
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy()) // the other side has closed it
    socket.end(greeting(id))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address, resolve)
  })
  await chmod(address, 0o600)
  server.unref()
  return {
    row: { id, address, startedAt: new Date(nowMs).toISOString() },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** Returns whether a node answers with its own id within a second. A stopped process does not. */
export function isNodeAlive({ id, address }: NodeRow): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address)
    let received = ''
    const settle = (isAlive: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(isAlive)
    }
    const timer = setTimeout(() => settle(false), answerMsMax)
    socket.setEncoding('utf8')
    socket.on('data', (text) => {
      received += text
      if (received === greeting(id)) settle(true)
      else if (received.length > greetingCharsMax) settle(false)
    })
    socket.on('end', () => settle(received === greeting(id)))
    socket.on('error', () => settle(false))
  })
}

/** Removes the socket that a dead node left behind. */
export const removeNodeSocket = (address: string): Promise<void> => rm(address, { force: true })

/** Returns the directory of sockets: the state directory, or a private temporary one if its path is too long. */
function socketDir(stateDir: string): string {
  const preferred = join(stateDir, 'nodes')
  if (Buffer.byteLength(preferred) + socketNameBytes <= socketPathBytesMax) return claimPrivateDirectory(preferred)
  return claimPrivateDirectory(join(tmpdir(), `holdfast-${userInfo().uid}`))
}

/** Returns the nodes of a store that answer now. With `among`, asks only those. */
export async function findLiveNodes(
  { nodes }: Pick<Leases, 'nodes'>,
  among?: ReadonlySet<string>,
): Promise<readonly NodeRow[]> {
  const asked = (await nodes()).filter(({ id }) => among?.has(id) ?? true)
  const answers = await Promise.all(asked.map(isNodeAlive))
  return asked.filter((_, index) => answers[index] === true)
}
