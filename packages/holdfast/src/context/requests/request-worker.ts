import { parentPort, workerData } from 'node:worker_threads'
import { createBuilder, type FromThread, type RequestSource, type ToThread } from './builder.ts'

if (parentPort === null) throw new Error('requests are put together in a worker')

const port = parentPort
const source: RequestSource = workerData // request-thread.ts hands it over, typed
const builder = createBuilder(source)
let underWay = 0
let isClosing = false

const endWhenDone = () => {
  if (!isClosing || underWay > 0) return
  builder.close()
  port.close()
}

port.on('message', async (message: ToThread) => {
  if (message === null) {
    isClosing = true
    return endWhenDone()
  }
  underWay += 1
  const { built, moved } = await builder.build(message.asked)
  port.postMessage({ number: message.number, built } satisfies FromThread, moved)
  underWay -= 1
  endWhenDone()
})
port.postMessage('up' satisfies FromThread)
