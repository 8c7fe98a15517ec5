import { Worker } from 'node:worker_threads'
import { fault, type Result, refuse } from '@holdfast/protocol'
import type { Job, JobAnswers } from './job-worker.ts'

/** Runs a job on its own thread, so that running sessions do not wait for it. An abort stops it at once. */
export function runJobThread<Type extends Job['type']>(
  job: Extract<Job, { readonly type: Type }>,
  signal?: AbortSignal,
): Promise<Result<JobAnswers[Type]>> {
  return new Promise((resolve) => {
    // Pass no Node flags on: one like --input-type would prevent loading the worker's file.
    const worker = new Worker(script, { workerData: job, execArgv: [], trackUnmanagedFds: false })
    const fail = (why: string) => resolve(refuse(fault('internal', `The ${job.type} of the store failed: ${why}.`)))
    let answer: Result<JobAnswers[Type]> | null = null
    const stop = () => {
      answer ??= refuse(
        fault('session_stopped', `The ${job.type} of the store was stopped because the store is closing.`),
      )
      void worker.terminate()
    }
    worker.on('message', (result: Result<JobAnswers[Type]>) => {
      answer ??= result
    })
    worker.on('error', (cause) => fail(cause instanceof Error ? cause.message : String(cause)))
    // Resolve only now: until the worker exits it may have the store open.
    worker.on('exit', (code) => {
      signal?.removeEventListener('abort', stop)
      if (answer === null) fail(`code ${code}`)
      else resolve(answer)
    })
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
  })
}

const script = new URL(import.meta.url.endsWith('.ts') ? './job-worker.ts' : './job-worker.js', import.meta.url)
