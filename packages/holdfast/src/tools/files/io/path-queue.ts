import { createSerialQueue } from '@holdfast/protocol'

type Queue = { readonly run: ReturnType<typeof createSerialQueue>; waiting: number }

const queues = new Map<string, Queue>()

/** Runs changes of one real path one after the other, whichever sessions make them. */
export async function oneByOneAt<Value>(absolute: string, work: () => Promise<Value>): Promise<Value> {
  const queue = queues.get(absolute) ?? { run: createSerialQueue(), waiting: 0 }
  queues.set(absolute, queue)
  queue.waiting++
  try {
    return await queue.run(work)
  } finally {
    queue.waiting--
    if (queue.waiting === 0) queues.delete(absolute)
  }
}
