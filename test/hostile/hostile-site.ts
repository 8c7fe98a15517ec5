import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

/** A website that never ends its answers, sends too much, or redirects to private addresses. */
export interface HostileSite {
  /** As `host:port`. */
  readonly host: string
  close(): void
}

const megabyte = 1024 ** 2
const bombMegabytes = 200

export async function startHostileSite(): Promise<HostileSite> {
  const bomb = Buffer.concat(Array<Buffer>(bombMegabytes).fill(gzipSync(Buffer.alloc(megabyte, 'x'))))
  const pages: { readonly [path: string]: (response: ServerResponse) => void } = {
    '/short': (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>short</p>'),
    '/endless': (response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      const piece = 'x'.repeat(megabyte)
      const write = () => {
        while (!response.destroyed && response.write(piece));
      }
      response.on('drain', write)
      write()
    },
    '/loop': (response) => response.writeHead(302, { location: '/loop' }).end(),
    '/private': (response) => response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
    '/local': (response) => response.writeHead(302, { location: 'http://127.0.0.1/' }).end(),
    '/file': (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    '/silent': () => undefined, // never answers
    '/bomb': (response) =>
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(bomb),
    '/html': (response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<table><tr><td>${'<div><b>'.repeat(100_000)}`),
  }
  const server = createServer((request, response) => {
    response.on('error', () => undefined) // the reader may leave
    const page = pages[request.url ?? '']
    if (page) page(response)
    else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has an address of this type.
  const { port } = server.address() as AddressInfo
  return {
    host: `127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
