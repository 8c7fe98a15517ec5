import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isNodeAlive, openNodeSocket, removeNodeSocket } from './node-socket.ts'

let base = ''
const servers: Server[] = []
const held: Socket[] = []
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'hf-node-'))
})
afterEach(async () => {
  for (const socket of held.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) server.close()
  await rm(base, { recursive: true, force: true })
})

/** Someone else's socket, where a node's would be. */
async function strangerAt(answer: (socket: Socket) => void): Promise<string> {
  const address = join(base, 'stranger.sock')
  const server = createServer((socket) => {
    held.push(socket.on('error', () => undefined))
    answer(socket)
  })
  servers.push(server)
  await new Promise<void>((resolve) => void server.listen(address, resolve))
  return address
}
const node = (address: string) => ({ id: 'node_1', address, startedAt: '2026-01-01T00:00:00.000Z' })

describe('a node', () => {
  it('is alive as long as its socket answers', async () => {
    const socket = await openNodeSocket(base, 0)
    expect(await isNodeAlive(socket.row)).toBe(true)
    await socket.close()
    expect(await isNodeAlive(socket.row)).toBe(false)
  })

  it('is dead when another process answers at its address', async () => {
    const socket = await openNodeSocket(base, 0)
    expect(await isNodeAlive({ ...socket.row, id: 'node_of_yesterday' })).toBe(false)
    await socket.close()
    const other = await strangerAt((client) => void client.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect(await isNodeAlive(node(other))).toBe(false)
  })

  it('is dead when the answer does not end', async () => {
    const address = await strangerAt((client) => void client.write('x'.repeat(10_000)))
    expect(await isNodeAlive(node(address))).toBe(false)
  })

  it('is dead when it does not answer within a second', async () => {
    const address = await strangerAt(() => undefined)
    expect(await isNodeAlive(node(address))).toBe(false)
  })

  it('is alive when its id arrives in pieces', async () => {
    const address = await strangerAt((client) => {
      client.write('holdfast no')
      setImmediate(() => client.end('de_1\n'))
    })
    expect(await isNodeAlive(node(address))).toBe(true)
  })

  it('is dead without a socket, which may be removed twice', async () => {
    const address = join(base, 'gone.sock')
    expect(await isNodeAlive(node(address))).toBe(false)
    await removeNodeSocket(address)
  })
})

describe('the socket of a node', () => {
  it('is accessible to its owner only', async () => {
    await mkdir(join(base, 'nodes'))
    await chmod(join(base, 'nodes'), 0o777)
    const socket = await openNodeSocket(base, 0)
    expect((await stat(socket.row.address)).mode & 0o777).toBe(0o600)
    expect((await stat(join(base, 'nodes'))).mode & 0o777).toBe(0o700)
    await socket.close()
  })

  it('is elsewhere when the state directory has too long a path', async () => {
    const long = join(base, 'x'.repeat(120))
    const socket = await openNodeSocket(long, 0)
    expect(socket.row.address.startsWith(long)).toBe(false)
    expect(Buffer.byteLength(socket.row.address)).toBeLessThan(104)
    expect(await isNodeAlive(socket.row)).toBe(true)
    await socket.close()
    expect(existsSync(socket.row.address)).toBe(false)
  })
})
