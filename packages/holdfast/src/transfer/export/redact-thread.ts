import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Redacts values on a thread of its own, one after the other. */
export interface Redactor extends AsyncDisposable {
  redact<Value>(value: Value): Promise<Value>
}

/** Starts the thread; disposing ends it, also while it redacts. */
export function startRedactor(): Redactor {
  // Pass no Node flags on: one like --input-type would prevent loading the worker's file.
  const worker = new Worker(script, { execArgv: [], trackUnmanagedFds: false })
  worker.unref()
  const ended = once(worker, 'exit').then(([code]) => {
    throw new Error(`The thread that redacts ended with code ${code}.`)
  })
  ended.catch(() => undefined) // a pending redact() rejects; without one the exit is no error
  return {
    async redact(value) {
      worker.ref()
      worker.postMessage(value)
      const [clean] = await Promise.race([once(worker, 'message'), ended])
      worker.unref()
      return clean
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}

/** The worker beside this file, which is TypeScript in the repo and JavaScript once built. */
const script = new URL(import.meta.url.endsWith('.ts') ? './redact-worker.ts' : './redact-worker.js', import.meta.url)
