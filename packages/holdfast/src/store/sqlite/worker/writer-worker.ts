import { parentPort, workerData } from 'node:worker_threads'
import { type PackedWrite, unpackWrite } from '../rows/append-message.ts'
import { createWriter, type WriterOptions } from '../write/writer.ts'
import type { WorkerData } from './worker-link.ts'
import { serve } from './worker-serve.ts'

if (parentPort === null) throw new Error('the writer runs in a worker')

const closingMs = 100

const { signal, options }: WorkerData<WriterOptions> = workerData // sqlite-store.ts hands it over, typed
const writer = createWriter(options)
serve<PackedWrite>({
  port: parentPort,
  signal,
  run: (packed) => writer.run(packed.map(unpackWrite)),
  groupMax: 1024,
  rest: writer.rest,
})
writer.run([{ op: 'followSearch', forMs: closingMs }]) // whoever looks next finds what was said last
writer.close()
