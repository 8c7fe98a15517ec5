import { parentPort, workerData } from 'node:worker_threads'
import type { StoreChange } from '../rows/requests.ts'
import { createWriter, type WriterOptions } from '../write/writer.ts'
import type { WorkerData } from './worker-link.ts'
import { serve } from './worker-serve.ts'

if (parentPort === null) throw new Error('the writer runs in a worker')

const closingMs = 100

const { signal, options }: WorkerData<WriterOptions> = workerData // sqlite-store.ts passes it, typed
const writer = createWriter(options)
serve<StoreChange>({ port: parentPort, signal, run: writer.run, groupMax: 1024, rest: writer.rest })
writer.run([['extendIndex', closingMs]]) // so that the next process finds the latest messages
writer.close()
