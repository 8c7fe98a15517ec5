import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { mainThread, openRunQueue, ownThread } from './run-queue.ts'
import type { HealthReport } from './watch-health.ts'

type Watched = { readonly url: string; readonly pid: number; readonly pauseMs: number }

async function ask({ url, pid, pauseMs }: Watched, stopping: AbortSignal): Promise<HealthReport> {
  const queues = [openRunQueue(ownThread), openRunQueue(mainThread(pid))]
  const waitedMs = () => queues.reduce((sum, waited) => sum + waited(), 0)
  const [took, failures]: [number[], string[]] = [[], []]
  while (!stopping.aborted) {
    const [startMs, waited] = [performance.now(), waitedMs()]
    try {
      const response = await fetch(`${url}/v1/health`)
      await response.arrayBuffer()
      if (response.status !== 200) failures.push(`health: status ${response.status}`)
    } catch (cause) {
      failures.push(`health: ${cause instanceof Error ? `${cause.message}: ${cause.cause}` : cause}`)
    }
    took.push(Math.max(0, performance.now() - startMs - (waitedMs() - waited)))
    await wait(pauseMs, null, { signal: stopping }).catch(() => null)
  }
  took.sort((left, right) => left - right)
  return { asked: took.length, msP99: took[Math.floor(took.length * 0.99)] ?? 0, failures }
}

const stopping = new AbortController()
parentPort?.once('message', () => stopping.abort())
parentPort?.postMessage(await ask(workerData, stopping.signal))
