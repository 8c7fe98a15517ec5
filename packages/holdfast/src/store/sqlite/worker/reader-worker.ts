import { parentPort, workerData } from 'node:worker_threads'
import { createFileIdentity } from '../files/held-files.ts'
import { createReader } from '../read/reader.ts'
import { buffersOf } from '../rows/packed-page.ts'
import type { Question } from '../rows/requests.ts'
import type { WorkerData } from './worker-link.ts'
import { serve } from './worker-serve.ts'

if (parentPort === null) throw new Error('the reader runs in a worker')

const { signal, options }: WorkerData<{ readonly path: string; readonly identity: SharedArrayBuffer }> = workerData // sqlite-store.ts passes it, typed
const reader = createReader(options.path, createFileIdentity(options.identity))
// One by one: an answer is sent as soon as it is ready, so that the thread that asked decodes it while the next one is read.
serve<Question>({ port: parentPort, signal, run: (questions) => questions.map(reader.answer), buffersOf, groupMax: 1 })
reader.close()
