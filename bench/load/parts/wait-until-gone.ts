import type { LoadServer } from './load-server.ts'

export const goneWithinSeconds = 60

export type Gone = { readonly seconds: number; readonly left: number }

/** Waits until the server has only as many connections as before. Gives up after a while. */
export async function waitUntilGone(server: LoadServer, before: number, start = performance.now()): Promise<Gone> {
  for (;;) {
    const seconds = (performance.now() - start) / 1000
    const { connections } = await server.look()
    const left = Math.max(0, connections - before)
    if (left <= 0 || seconds > 1.5 * goneWithinSeconds) return { seconds, left }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
