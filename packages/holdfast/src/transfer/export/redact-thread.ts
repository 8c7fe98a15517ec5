import { once } from 'node:events'
import { findScript, startThread } from '../../system/start-thread.ts'

/** Redacts values on a thread of its own, one after the other. */
export interface Redactor extends AsyncDisposable {
  redact<Value>(value: Value): Promise<Value>
}

/** Starts the thread; disposing ends it, also while it redacts. */
export function startRedactor(): Redactor {
  const worker = startThread(script)
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

const script = findScript('./redact-worker', import.meta.url)
