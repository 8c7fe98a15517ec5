import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { fault } from '@holdfast/protocol/fault'
import { type Result, refuse } from '@holdfast/protocol/result'
import type { Answered } from './calls.ts'
import { createWorkerSpin } from './spin-wait.ts'
import type { ToWorker } from './worker-link.ts'

type ServeOptions<Request> = {
  readonly port: MessagePort
  /** Increases with each message sent to a port. */
  readonly signal: Int32Array
  /** Answers a group of requests, in their order. */
  readonly run: (requests: readonly Request[]) => readonly Result<unknown>[]
  readonly groupMax: number
  /** Returns whether a request is a group of its own, so that it delays the others little. None by default. */
  readonly isAlone?: (request: Request) => boolean
  /** Returns the buffers of an answer, which move to the thread that asked instead of being copied. None by default. */
  readonly buffersOf?: (request: Request, answer: Result<unknown>) => readonly ArrayBuffer[]
  /** Does background work after each group and before sleep. Returns in how many milliseconds to call it again. */
  readonly rest?: () => number
}

type Waiting<Request> = { readonly from: MessagePort; readonly number: number; readonly request: Request }

/** Runs the worker's end of a link until it closes. Sleeps on the signal: the event loop takes longer to wake up. */
export function serve<Request>({
  port,
  signal,
  run,
  groupMax,
  isAlone = () => false,
  buffersOf = () => [],
  rest = () => Number.POSITIVE_INFINITY,
}: ServeOptions<Request>): void {
  const others = new Map<number, MessagePort>()
  const waiting: Waiting<Request>[] = []
  let isClosing = false
  const spin = createWorkerSpin()

  function receive(from: MessagePort): void {
    for (let next = receiveMessageOnPort(from); next !== undefined; next = receiveMessageOnPort(from)) {
      const message: ToWorker<Request> = next.message
      if (message === null) isClosing = true
      else if ('opened' in message) others.set(message.id, message.opened)
      else if ('closed' in message) others.delete(message.closed)
      else for (const [number, request] of message) waiting.push({ from, number, request })
    }
  }

  function takeGroup(): readonly Waiting<Request>[] {
    const alone = waiting.findIndex(({ request }) => isAlone(request))
    return waiting.splice(0, alone < 0 ? groupMax : Math.min(Math.max(alone, 1), groupMax))
  }

  for (;;) {
    const seen = Atomics.load(signal, 0)
    // The other threads first: what one sent before its end comes before what the owner does about that end.
    for (const other of others.values()) receive(other)
    receive(port)
    if (waiting.length > 0) {
      const group = takeGroup()
      send(group, run(group.map(({ request }) => request)), buffersOf)
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

/** Sends the answers to the ports that asked, in one message each. */
function send<Request>(
  group: readonly Waiting<Request>[],
  answers: readonly Result<unknown>[],
  buffersOf: NonNullable<ServeOptions<Request>['buffersOf']>,
): void {
  const byPort = new Map<MessagePort, { readonly list: Answered[]; readonly moved: ArrayBuffer[] }>()
  for (const [index, { from, number, request }] of group.entries()) {
    const answer = answers[index] ?? noAnswer
    const { list, moved } = byPort.get(from) ?? { list: [], moved: [] }
    list.push(encodeAnswer(number, answer))
    moved.push(...buffersOf(request, answer))
    byPort.set(from, { list, moved })
  }
  for (const [port, { list, moved }] of byPort) port.postMessage(list, moved)
}

const encodeAnswer = (number: number, answer: Result<unknown>): Answered =>
  answer.ok && answer.value === undefined ? number : [number, answer]

// `run` answers each request; this settles one that a bug left out.
const noAnswer = refuse(fault('internal', 'The store gave no answer.'))
