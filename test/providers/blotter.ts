import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ModelRequest } from '@holdfast/core/ports'
import { createModels } from '../../packages/holdfast/src/providers/models.ts'
import { environmentAt } from './services.ts'

export type Blotter = AsyncDisposable & {
  /** The body that a request becomes on its way to its service, to the byte. */
  bodyOf(request: ModelRequest): Promise<string>
}

/** Keeps what is sent and says nothing back: what the real adapters make of a request, in a process that knows only the request. */
export async function openBlotter(): Promise<Blotter> {
  let last: string | null = null
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    last = Buffer.concat(chunks).toString('utf8')
    response.writeHead(400).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port, so it has one
  const environment = environmentAt(`http://127.0.0.1:${port}`)
  return {
    async bodyOf(request) {
      last = null
      const readiness = createModels({ environment }).find(request.model) // anew: nothing is remembered
      if (readiness.type !== 'ready') throw new Error(readiness.message)
      const { signal } = new AbortController()
      for await (const part of readiness.provider.stream(request, { signal })) if (part.type === 'end') break
      if (last === null) throw new Error(`nothing was sent to ${request.model}`)
      return last
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
