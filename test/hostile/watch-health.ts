import { Worker } from 'node:worker_threads'
import type { ServerProcess } from '../e2e/server-process.ts'

export type HealthReport = {
  /** How often `/health` was asked. */
  readonly asked: number
  /** The 99th percentile of the time that an answer took, without the time that either side waited for a CPU. */
  readonly msP99: number
  readonly failures: readonly string[]
}

/** Asks for the server's health again and again, from a thread of its own: the rig itself is busy with hostile input. */
export function watchHealth(server: ServerProcess, pauseMs: number): { stop(): Promise<HealthReport> } {
  const worker = new Worker(new URL('./health-worker.ts', import.meta.url), {
    workerData: { url: server.url, pid: server.process.pid, pauseMs },
  })
  const report = new Promise<HealthReport>((resolve, reject) => worker.once('message', resolve).once('error', reject))
  return {
    stop() {
      worker.postMessage('stop')
      return report
    },
  }
}
