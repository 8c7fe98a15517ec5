import { parentPort, workerData } from 'node:worker_threads'
import { createReader } from '../read/reader.ts'
import type { Question } from '../rows/requests.ts'
import type { WorkerData } from './worker-link.ts'
import { serve } from './worker-serve.ts'

if (parentPort === null) throw new Error('the reader runs in a worker')

const { signal, options }: WorkerData<{ readonly path: string }> = workerData // sqlite-store.ts passes it, typed
const reader = createReader(options.path)
// Small groups: an answer is sent as soon as it is ready.
serve<Question>({ port: parentPort, signal, run: (questions) => questions.map(reader.answer), groupMax: 8 })
reader.close()
