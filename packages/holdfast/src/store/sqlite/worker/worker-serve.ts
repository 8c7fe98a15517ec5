import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { fault } from '@holdfast/protocol/fault'
import { type Result, refuse } from '@holdfast/protocol/result'
import { createWorkerSpin } from './spin-wait.ts'
import type { Answered, Batch, Envelope } from './worker-link.ts'

type ServeOptions<Request> = {
  readonly port: MessagePort
  /** Increases with each message sent to the port. */
  readonly signal: Int32Array
  /** Answers a group of requests, in their order. */
  readonly run: (requests: readonly Request[]) => readonly Result<unknown>[]
  readonly groupMax: number
  /** Does background work after each group and before sleep. Returns in how many milliseconds to call it again. */
  readonly rest?: () => number
}

/** Runs the worker's end of a link until it closes. Sleeps on the signal: the event loop takes longer to wake up. */
export function serve<Request>({
  port,
  signal,
  run,
  groupMax,
  rest = () => Number.POSITIVE_INFINITY,
}: ServeOptions<Request>): void {
  let waiting: Envelope<Request>[] = []
  let isClosing = false
  const spin = createWorkerSpin()

  for (;;) {
    const seen = Atomics.load(signal, 0)
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      const batch: Batch<Request> = next.message
      if (batch === null) isClosing = true
      else waiting = waiting.length === 0 ? [...batch] : waiting.concat(batch)
    }
    if (waiting.length > 0) {
      const group = waiting.splice(0, groupMax)
      const answers = run(group.map(([, request]) => request))
      port.postMessage(group.map(([number], index) => encodeAnswer(number, answers[index])))
      rest()
    } else if (isClosing) {
      return
    } else {
      const restMs = rest()
      if (restMs > 0) spin(signal, seen)
      Atomics.wait(signal, 0, seen, restMs) // returns at once if a message arrived after `seen`
    }
  }
}

const encodeAnswer = (number: number, answer: Result<unknown> | undefined): Answered =>
  answer?.ok === true && answer.value === undefined ? number : [number, answer ?? noAnswer]

// `run` answers each request; this settles one that a bug left out.
const noAnswer = refuse(fault('internal', 'The store gave no answer.'))
