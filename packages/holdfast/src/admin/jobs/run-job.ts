import { Worker } from 'node:worker_threads'
import { fault, type Result, refuse } from '@holdfast/protocol'
import type { Job, JobAnswers } from './job.ts'

/** Runs a job on a thread of its own, so that no answer that is streaming waits for it. Aborted, it ends where it stands. */
export function runJobThread<Type extends Job['type']>(
  job: Extract<Job, { readonly type: Type }>,
  signal?: AbortSignal,
): Promise<Result<JobAnswers[Type]>> {
  return new Promise((resolve) => {
    // No flags of the program's own: one like --input-type would keep the worker from loading its file.
    const worker = new Worker(script, { workerData: job, execArgv: [], trackUnmanagedFds: false })
    const died = (why: string) => resolve(refuse(fault('internal', `The ${job.type} of the store ended: ${why}.`)))
    let answer: Result<JobAnswers[Type]> | null = null
    const stop = () => {
      answer ??= refuse(fault('session_stopped', `The ${job.type} of the store ended: it is being closed.`))
      void worker.terminate()
    }
    worker.on('message', (told: Result<JobAnswers[Type]>) => {
      answer ??= told
    })
    worker.on('error', (cause) => died(cause instanceof Error ? cause.message : String(cause)))
    // Not before: until then it may have the store open.
    worker.on('exit', (code) => {
      signal?.removeEventListener('abort', stop)
      if (answer === null) died(`code ${code}`)
      else resolve(answer)
    })
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
  })
}

const script = new URL(import.meta.url.endsWith('.ts') ? './job-worker.ts' : './job-worker.js', import.meta.url)
