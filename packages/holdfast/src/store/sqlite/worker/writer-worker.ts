import { parentPort, workerData } from 'node:worker_threads'
import { isEarlyQuestion } from '../rows/early-questions.ts'
import { buffersOf } from '../rows/packed-page.ts'
import type { Question, StoreChange } from '../rows/requests.ts'
import { createWriter, type WriterOptions } from '../write/writer.ts'
import type { WorkerData } from './worker-link.ts'
import { serve } from './worker-serve.ts'

if (parentPort === null) throw new Error('the writer runs in a worker')

const closingMs = 100

const { signal, options }: WorkerData<WriterOptions> = workerData // sqlite-store.ts passes it, typed
const writer = createWriter(options)
serve<StoreChange | Question>({
  port: parentPort,
  signal,
  groupMax: 1024,
  rest: writer.rest,
  isAlone: isEarlyQuestion,
  buffersOf,
  run(requests) {
    const [first] = requests
    if (first !== undefined && isEarlyQuestion(first)) return [writer.answer(first)]
    return writer.run(requests as readonly StoreChange[]) // questions come alone
  },
})
writer.run([['extendIndex', closingMs]]) // so that the next process finds the latest messages
writer.close()
