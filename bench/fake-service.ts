import { fork } from 'node:child_process'
import { on, once } from 'node:events'
import { join } from 'node:path'

export type FakeService = AsyncDisposable & {
  readonly url: string
  /** Yields once for each connection that closes, whether its answer was complete or not. */
  readonly closed: AsyncIterator<unknown>
}

/** Starts the loopback model service and waits until it listens. */
export async function startFakeService({ deltas }: { readonly deltas: number }): Promise<FakeService> {
  const child = fork(join(import.meta.dirname, 'sse-server.ts'), [String(deltas)])
  const [{ port }] = await once(child, 'message')
  return {
    url: `http://127.0.0.1:${port}`,
    closed: on(child, 'message'),
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}
