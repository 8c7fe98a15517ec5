import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { fault } from '@holdfast/protocol/fault'
import { type Result, refuse } from '@holdfast/protocol/result'
import { createLinger } from './stay-awake.ts'
import type { Answered, Batch, Envelope } from './worker-link.ts'

export type Serving<Request> = {
  readonly port: MessagePort
  /** Rises with each message sent to the port. */
  readonly signal: Int32Array
  /** Answers a group, in its order. */
  readonly run: (requests: readonly Request[]) => readonly Result<unknown>[]
  readonly groupMax: number
  /** Called after each group and before sleep; returns after how many milliseconds it wants to be called again. */
  readonly rest?: () => number
}

/**
 * The worker's end of a link: everything that came while one group was under way is the next group. Returns when the
 * link closes. Sleeps on the signal and not in the event loop, which takes twice as long to wake up.
 */
export function serve<Request>({ port, signal, run, groupMax, rest = never }: Serving<Request>): void {
  let waiting: Envelope<Request>[] = []
  let isClosing = false
  const linger = createLinger()

  function takeWhatCame(): void {
    for (let late = receiveMessageOnPort(port); late !== undefined; late = receiveMessageOnPort(port)) {
      const batch: Batch<Request> = late.message
      if (batch === null) isClosing = true
      else waiting = waiting.length === 0 ? [...batch] : waiting.concat(batch)
    }
  }

  for (;;) {
    const seen = Atomics.load(signal, 0)
    takeWhatCame()
    if (waiting.length > 0) {
      const group = waiting.splice(0, groupMax)
      const answers = run(group.map(([, request]) => request))
      port.postMessage(group.map(([number], index) => answered(number, answers[index])))
      rest()
    } else if (isClosing) {
      return
    } else {
      const restMs = rest()
      if (restMs > 0) linger(signal, seen)
      Atomics.wait(signal, 0, seen, restMs) // returns at once if a message came since `seen`
    }
  }
}

const never = (): number => Number.POSITIVE_INFINITY

const answered = (number: number, answer: Result<unknown> | undefined): Answered =>
  answer?.ok === true && answer.value === undefined ? number : [number, answer ?? nothing]

// `run` answers each request; were it to leave one out, whoever asked must still hear something.
const nothing = refuse(fault('internal', 'The store gave no answer.'))
