import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { mainThread, openRunQueue, ownThread } from './run-queue.ts'
import type { HealthReport } from './watch-health.ts'

const pauseMs = 20

async function ask(url: string, pid: number, isOver: () => boolean): Promise<HealthReport> {
  const queues = [openRunQueue(ownThread), openRunQueue(mainThread(pid))]
  const waitedMs = () => queues.reduce((sum, waited) => sum + waited(), 0)
  const [took, failures]: [number[], string[]] = [[], []]
  while (!isOver()) {
    const [startMs, waited] = [performance.now(), waitedMs()]
    try {
      const response = await fetch(`${url}/v1/health`)
      await response.arrayBuffer()
      if (response.status !== 200) failures.push(`health: status ${response.status}`)
    } catch (cause) {
      failures.push(`health: ${cause instanceof Error ? `${cause.message}: ${cause.cause}` : cause}`)
    }
    took.push(Math.max(0, performance.now() - startMs - (waitedMs() - waited)))
    await wait(pauseMs)
  }
  took.sort((left, right) => left - right)
  return { asked: took.length, msP99: took[Math.floor(took.length * 0.99)] ?? 0, failures }
}

let isOver = false
parentPort?.once('message', () => {
  isOver = true
})
const { url, pid }: { url: string; pid: number } = workerData
parentPort?.postMessage(await ask(url, pid, () => isOver))
