import { parentPort, workerData } from 'node:worker_threads'
import { createReader } from '../read/reader.ts'
import type { ReadRequest } from '../rows/messages.ts'
import type { WorkerData } from './worker-link.ts'
import { serve } from './worker-serve.ts'

if (parentPort === null) throw new Error('the reader runs in a worker')

const { signal, options }: WorkerData<{ readonly path: string }> = workerData // sqlite-store.ts hands it over, typed
const reader = createReader(options.path)
// Small groups: an answer leaves as soon as it is there.
serve<ReadRequest>({ port: parentPort, signal, run: (requests) => requests.map(reader.run), groupMax: 8 })
reader.close()
