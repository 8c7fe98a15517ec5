import { chmod, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
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
  /** Passes each further connection on, after the greeting. Before, a connection ends with it. */
  serve(onConnection: (socket: Socket) => void): void
  /** Listens again after another process removed the socket, because this one did not answer for a while. */
  listenAgain(): Promise<void>
  close(): Promise<void>
}

/** Returns the id of a new node. */
export const newNodeId = (): string => `node_${uuidv7().replaceAll('-', '')}`

/** Opens the socket that shows other processes that this one is alive. It needs no clock, heartbeat or process id. */
export async function openNodeSocket(stateDir: string, nowMs: number): Promise<NodeSocket> {
  const id = newNodeId()
  const address = join(socketDir(stateDir), `${id.slice(-16)}.sock`)
  const sockets = new Set<Socket>()
  let onConnection: ((socket: Socket) => void) | null = null
  const answer = (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy()) // the other side has closed it
    if (onConnection === null) return socket.end(greeting(id))
    socket.write(greeting(id))
    return onConnection(socket)
  }
  let server = await listen(address, answer)
  return {
    row: { id, address, startedAt: new Date(nowMs).toISOString() },
    serve: (handler) => {
      onConnection = handler
    },
    async listenAgain() {
      server.close()
      await rm(address, { force: true })
      server = await listen(address, answer)
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

async function listen(address: string, answer: (socket: Socket) => void): Promise<Server> {
  const server = createServer(answer)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address, resolve)
  })
  await chmod(address, 0o600)
  return server.unref()
}

/** Nodes that just did not answer a connection for a second, with the time: asking them again would take another one. */
const silent = new Map<string, number>()
const silentMs = 100

function isSilent(id: string): boolean {
  const sinceMs = silent.get(id)
  silent.delete(id)
  return sinceMs !== undefined && performance.now() - sinceMs < silentMs
}

/** Connects to a node and reads its greeting. Rejects if another program answers, or none within a second. */
export function connectNode({ id, address }: NodeRow): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(address)
    let received = ''
    const fail = (reason: string) => {
      clearTimeout(timer)
      socket.destroy()
      reject(new Error(reason))
    }
    const timer = setTimeout(() => {
      silent.set(id, performance.now())
      fail(`${id} did not answer within a second`)
    }, answerMsMax)
    const onData = (bytes: Buffer) => {
      received += bytes.toString('latin1') // the greeting is plain ASCII
      if (received.length > greetingCharsMax || !greeting(id).startsWith(received)) return fail(`${id} is not there`)
      if (received !== greeting(id)) return
      clearTimeout(timer)
      socket.off('data', onData).off('end', onEnd) // not paused: HTTP would not resume it
      resolve(socket)
    }
    const onEnd = () => fail(`${id} closed the connection`)
    socket.on('data', onData).on('end', onEnd)
    socket.on('error', ({ message }) => fail(message))
  })
}

/**
 * Returns whether a node is alive: whether its term has not ended, if it has one; otherwise whether it answers with its own
 * id within a second. A stopped process does not.
 */
export function isNodeAlive({ id, address, isLive }: NodeRow): Promise<boolean> {
  if (isLive !== undefined) return Promise.resolve(isLive)
  if (isSilent(id)) return Promise.resolve(false)
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
