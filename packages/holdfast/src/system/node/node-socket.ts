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
const heardCharsMax = 200

/** This process as a node: a socket that answers for as long as the process lives, and for no longer. */
export interface NodeSocket {
  readonly row: NodeRow
  close(): Promise<void>
}

/** Opens the socket by which others tell that this process lives. It needs no clock, no heartbeat and no process id. */
export async function openNodeSocket(stateDir: string, nowMs: number): Promise<NodeSocket> {
  const id = `node_${uuidv7().replaceAll('-', '')}`
  const address = join(socketDir(stateDir), `${id.slice(-16)}.sock`)
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy()) // whoever asked has left
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

/** Whether a node still answers, by its own name, within a second. A stopped process does not; a stranger's socket does not. */
export function isNodeAlive({ id, address }: NodeRow): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address)
    let heard = ''
    const settle = (isAlive: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(isAlive)
    }
    const timer = setTimeout(() => settle(false), answerMsMax)
    socket.setEncoding('utf8')
    socket.on('data', (text) => {
      heard += text
      if (heard === greeting(id)) settle(true)
      else if (heard.length > heardCharsMax) settle(false)
    })
    socket.on('end', () => settle(heard === greeting(id)))
    socket.on('error', () => settle(false))
  })
}

/** Removes the socket that a dead node left behind. */
export const removeNodeSocket = (address: string): Promise<void> => rm(address, { force: true })

/** The state directory, or where its path is too long for a socket a private one among the temporary files. */
function socketDir(stateDir: string): string {
  const near = join(stateDir, 'nodes')
  if (Buffer.byteLength(near) + socketNameBytes <= socketPathBytesMax) return claimPrivateDirectory(near)
  return claimPrivateDirectory(join(tmpdir(), `holdfast-${userInfo().uid}`))
}

/** The nodes of a store that answer now; of `among` alone where it is given. */
export async function findLiveNodes(
  { nodes }: Pick<Leases, 'nodes'>,
  among?: ReadonlySet<string>,
): Promise<readonly NodeRow[]> {
  const asked = (await nodes()).filter(({ id }) => among?.has(id) ?? true)
  const answers = await Promise.all(asked.map(isNodeAlive))
  return asked.filter((_, index) => answers[index] === true)
}
