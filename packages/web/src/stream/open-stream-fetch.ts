import { createStreamFetch } from './stream-fetch.ts'
import type { WindowMessage, WorkerMessage } from './stream-worker.ts'

/** Returns a `fetch` whose streams go over the one connection of all windows of this browser. */
export const openStreamFetch = (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  createStreamFetch({ fetch, start: startWorker })

/** Calls `onChosen` if the worker that all windows share chooses this one to keep the news. For browsers without locks. */
export function awaitChoice(onChosen: () => void): void {
  const worker = reachWorker()
  if (!worker) return
  const say = (type: 'here' | 'gone') => worker.port.postMessage({ type } satisfies WindowMessage)
  worker.port.addEventListener('message', ({ data }: MessageEvent<WorkerMessage>) => {
    if (data.type === 'ping') say('here')
    else onChosen()
  })
  addEventListener('pagehide', () => say('gone'))
  addEventListener('pageshow', () => say('here')) // also of a page that was kept for the back button
  say('here')
}

/** Connects to the worker, and starts it if no window has; null if the browser has no such workers. */
function reachWorker(): SharedWorker | null {
  if (!('SharedWorker' in globalThis)) return null
  const worker = new SharedWorker(new URL('./stream-worker.ts', import.meta.url), { type: 'module', name: 'streams' })
  worker.port.start()
  return worker
}

function startWorker(): SharedWorker | null {
  const worker = reachWorker()
  if (!worker) return null
  const lock = `holdfast.window.${crypto.getRandomValues(new BigUint64Array(1))[0]}`
  // The worker may ask for the lock only once this window has it, or it would take the window for closed.
  void navigator.locks?.request(lock, () => {
    worker.port.postMessage({ type: 'held', lock } satisfies WindowMessage)
    return new Promise(() => undefined) // held until the window is gone
  })
  return worker
}
