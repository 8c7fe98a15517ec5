import { createStreamFetch } from './stream-fetch.ts'
import type { WindowMessage } from './stream-worker.ts'

/** Returns a `fetch` whose streams go over the one connection of all windows of this browser. */
export const openStreamFetch = (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  createStreamFetch({ fetch, start: startWorker })

function startWorker(): SharedWorker | null {
  if (!('SharedWorker' in globalThis)) return null
  const worker = new SharedWorker(new URL('./stream-worker.ts', import.meta.url), { type: 'module', name: 'streams' })
  worker.port.start()
  const lock = `holdfast.window.${crypto.getRandomValues(new BigUint64Array(1))[0]}`
  // The worker may ask for the lock only once this window has it, or it would take the window for closed.
  void navigator.locks?.request(lock, () => {
    worker.port.postMessage({ type: 'held', lock } satisfies WindowMessage)
    return new Promise(() => undefined) // held until the window is gone
  })
  return worker
}
