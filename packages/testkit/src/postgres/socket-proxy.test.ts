import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { PostgresServer } from './postgres-server.ts'
import { openSocketProxy } from './socket-proxy.ts'

it('a proxy whose delay ends passes everything on in its order', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'hf-proxy-'))
  const { promise: arrived, resolve } = Promise.withResolvers<string>()
  const taken = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    let text = ''
    socket.on('data', (bytes) => {
      text += bytes
      if (text.length === 2) resolve(text)
    })
    taken.resolve()
  })
  await new Promise<void>((listening) => server.listen(join(directory, '.s.PGSQL.5432'), listening))
  const url = () => `postgres://test/?host=${encodeURIComponent(directory)}`
  const proxy = await openSocketProxy({ directory, url } as unknown as PostgresServer) // the rest is not used
  const path = decodeURIComponent(/host=(.+)$/.exec(proxy.url('any'))?.[1] ?? '')
  const client = connect(join(path, '.s.PGSQL.5432'))
  await taken.promise
  proxy.flow(200)
  client.write('1')
  for (let turn = 0; turn < 20; turn++) await new Promise((next) => setImmediate(next)) // the proxy reads it
  proxy.flow()
  client.write('2')
  expect(await arrived).toBe('12')
  client.destroy()
  await proxy.close()
  server.close()
  await rm(directory, { recursive: true, force: true })
})
