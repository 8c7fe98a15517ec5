import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { openViewer } from './load/parts/viewer.ts'

let server: Server | null = null
afterEach(() => void server?.close())

/** Opens a viewer on a server that sends these events and ends. */
async function view(events: string) {
  server = createServer((_, response) => response.end(events)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a TCP port
  const late: number[] = []
  const viewer = openViewer({ url: `http://127.0.0.1:${port}`, path: '/', token: 'x' }, (ms) => late.push(ms))
  await viewer.until(({ events: seen }) => seen.has('end'))
  viewer.socket.destroy()
  return { ...viewer.seen, late }
}

const delta = (text: string) => `\nevent: delta\ndata: {"text":"${text}"}\n\n`
const end = '\nevent: end\ndata: {}\n\n'

it('counts two words of the same time', async () => {
  const { words, missed, late } = await view(`${delta('0@10.001 x 1@10.001 x ')}${delta('2@10.002 x ')}${end}`)
  expect([words, missed, late.length]).toEqual([3, 0, 3])
})

it('counts a word that a draft or a record repeats once, and notices one that is missing', async () => {
  const draft = '\nevent: draft\ndata: {"text":"0@10.001 1@10.001 2@10.500 "}\n\n'
  const record = '\nid: 7\nevent: record\ndata: {"text":"0@10.001 1@10.001 2@10.500 4@12.000 "}\n\n'
  const { words, missed } = await view(
    `${delta('0@10.001 1@10.001 ')}${draft}${delta('4@12.000 ')}${record}${delta('4@12.000 ')}${end}`,
  )
  expect([words, missed]).toEqual([4, 1])
})
