import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PostgresServer } from './postgres-server.ts'

/** A pooler in transaction mode, as PgBouncer: each transaction of a client runs on any of a few connections. */
export interface Pooler {
  /** The URL of the database through the pooler. */
  url(schema: string): string
  close(): Promise<void>
}

const socketName = '.s.PGSQL.5432'
const [readyForQuery, idle] = ['Z'.charCodeAt(0), 'I'.charCodeAt(0)]

const keyData = 'K'.charCodeAt(0)

/** Returns the key to cancel statements with as PgBouncer sends it: for itself, and not of a process of the server. */
function ownKey(message: Buffer): Buffer {
  const own = Buffer.from(message)
  own.writeUInt32BE(0x7fffffff, 5)
  return own
}

/** A connection to the server that clients share. */
type Shared = { readonly socket: Socket; hello: Buffer; onReply: (bytes: Buffer, isDone: boolean) => void }

/** Splits a stream of the protocol into whole messages. */
function createSplitter(onMessage: (message: Buffer) => void) {
  let rest: Buffer = Buffer.alloc(0)
  return (bytes: Buffer): void => {
    rest = Buffer.concat([rest, bytes])
    while (rest.length >= 5) {
      const length = 1 + rest.readUInt32BE(1)
      if (rest.length < length) return
      onMessage(rest.subarray(0, length))
      rest = rest.subarray(length)
    }
  }
}

/** Opens a pooler with `size` connections to the server. */
export async function openPooler(server: PostgresServer, size = 3): Promise<Pooler> {
  const directory = await mkdtemp(join(tmpdir(), 'hf-pool-'))
  const free: Shared[] = []
  const waiting: ((shared: Shared) => void)[] = []
  const sockets = new Set<Socket>()
  let opened = 0

  const give = (shared: Shared) => {
    const next = waiting.shift()
    if (next) next(shared)
    else free.unshift(shared) // not the one that was used last
  }

  function openShared(startup: Buffer): Promise<Shared> {
    return new Promise((resolve) => {
      const socket = connect(join(server.directory, socketName))
      sockets.add(socket)
      const shared: Shared = { socket, hello: Buffer.alloc(0), onReply: () => undefined }
      shared.onReply = (bytes, isDone) => {
        shared.hello = Buffer.concat([shared.hello, bytes[0] === keyData ? ownKey(bytes) : bytes])
        if (isDone) resolve(shared)
      }
      const split = createSplitter((message) =>
        shared.onReply(message, message[0] === readyForQuery && message[5] === idle),
      )
      socket.on('data', split).on('error', () => undefined)
      socket.write(startup)
    })
  }

  async function take(startup: Buffer): Promise<Shared> {
    const known = free.pop()
    if (known) return known
    if (opened < size) {
      opened += 1
      return openShared(startup)
    }
    return new Promise((resolve) => waiting.push(resolve))
  }

  const listener = createServer((client) => {
    sockets.add(client)
    client.on('error', () => undefined)
    let startup: Buffer | null = null
    let current: Promise<Shared> | null = null
    const send = (message: Buffer) => {
      if (message[0] === 'X'.charCodeAt(0)) return client.end()
      current ??= take(startup ?? Buffer.alloc(0)).then((shared) => {
        shared.onReply = (bytes, isDone) => {
          client.write(bytes)
          if (!isDone) return
          current = null
          give(shared)
        }
        return shared
      })
      current.then(({ socket }) => socket.write(message))
    }
    const split = createSplitter(send)
    client.on('data', (bytes: Buffer) => {
      if (startup !== null) return split(bytes)
      // The first message has no type: its length comes first.
      startup = Buffer.from(bytes)
      take(startup).then((shared) => {
        client.write(shared.hello)
        give(shared)
      })
    })
  })
  await new Promise<void>((resolve) => listener.listen(join(directory, socketName), resolve))
  return {
    url: (schema) => server.url(schema).replace(encodeURIComponent(server.directory), encodeURIComponent(directory)),
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
      await rm(directory, { recursive: true, force: true })
    },
  }
}
