import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ModelRequest } from '@holdfast/core/ports'
import { createModels } from '../../packages/holdfast/src/providers/models.ts'
import { environmentAt } from './services.ts'

export type BodyRecorder = AsyncDisposable & {
  /** Returns the exact body that is sent to the service. */
  bodyOf(request: ModelRequest): Promise<string>
}

/** Records the bodies that the real adapters send. */
export async function openBodyRecorder(): Promise<BodyRecorder> {
  let last: string | null = null
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    last = Buffer.concat(chunks).toString('utf8')
    response.writeHead(400).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  const environment = environmentAt(`http://127.0.0.1:${port}`)
  return {
    async bodyOf(request) {
      last = null
      const readiness = createModels({ environment }).find(request.model) // a new one, without state
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
