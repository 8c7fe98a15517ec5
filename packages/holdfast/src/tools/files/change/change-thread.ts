import type { Worker } from 'node:worker_threads'
import { createSerialQueue, escapeLine, fault, type Result, refuse } from '@holdfast/protocol'
import { findScript, isOutOfMemory, startThread } from '../../../system/start-thread.ts'
import type { ChangeAnswer, ChangeAnswers, ChangeJob } from './change-worker.ts'

type ChangeThreadOptions = {
  /** How long one job may take. */
  readonly timeMsMax?: number | undefined
  /** The worker to run; ours by default. */
  readonly script?: URL | undefined
  /** How long the thread waits for another job before it ends. */
  readonly idleMs?: number | undefined
  /** The memory that the thread may use. */
  readonly heapMb?: number | undefined
}

export type ChangeThread = {
  /** Runs a job after those before it. An abort ends it at once, even while it computes. */
  run<Type extends ChangeJob['type']>(
    job: Extract<ChangeJob, { readonly type: Type }>,
    signal: AbortSignal,
  ): Promise<Result<ChangeAnswers[Type]>>
}

type Answered = ChangeAnswer | 'aborted' | 'late' | Error

/** A job takes linear time; only a very slow machine or disk reaches this. */
const timeMsMaxDefault = 60_000
/**
 * A job that needs more ends with a fault. One value that is 16 MB larger than what is left would end the process, because
 * V8 cannot undo such an allocation: the limits on files and edits keep all values far below that.
 */
const heapMbDefault = 512
/** Starting a thread takes longer than most jobs, and edits come in a row. */
const idleMsDefault = 10_000

/**
 * Computes changes of large files on a worker thread, one at a time, so that neither the event loop nor the memory
 * depends on how many there are. The thread starts with the first job and ends some time after the last; it does not keep the process alive.
 */
export function createChangeThread({
  timeMsMax = timeMsMaxDefault,
  script = ownScript,
  idleMs = idleMsDefault,
  heapMb = heapMbDefault,
}: ChangeThreadOptions = {}): ChangeThread {
  const enqueue = createSerialQueue()
  let worker: Worker | null = null
  let waiting = 0
  let idle: NodeJS.Timeout | null = null

  function start(): Worker {
    const started = startThread(script, { heapMb })
    started.on('error', () => undefined) // a running job has its own listener; an idle thread is restarted by the next job
    return started
  }

  function end(): void {
    void worker?.terminate()
    worker = null
  }

  /** Sends the job to the thread. The thread is ended if it does not answer. */
  async function ask(job: ChangeJob, signal: AbortSignal): Promise<Answered> {
    if (signal.aborted) return 'aborted'
    worker ??= start()
    const asked = worker
    asked.ref()
    const { promise, resolve } = Promise.withResolvers<Answered>()
    const abort = () => resolve('aborted')
    const fail = (cause: unknown) => resolve(cause instanceof Error ? cause : new Error(String(cause)))
    const exit = () => resolve(new Error('The thread that computes changes ended.'))
    const timer = setTimeout(() => resolve('late'), timeMsMax)
    asked.on('message', resolve).on('error', fail).on('exit', exit)
    signal.addEventListener('abort', abort)
    asked.postMessage(job)
    const answer = await promise
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    asked.off('message', resolve).off('error', fail).off('exit', exit)
    if (answer instanceof Error || typeof answer === 'string') end()
    return answer
  }

  return {
    async run<Type extends ChangeJob['type']>(job: Extract<ChangeJob, { readonly type: Type }>, signal: AbortSignal) {
      waiting++
      if (idle !== null) clearTimeout(idle)
      try {
        const answer = await enqueue(() => ask(job, signal))
        if (answer === 'aborted') return refuse(fault('bad_request', 'aborted'))
        if (answer === 'late' || isOutOfMemory(answer)) return refuse(tooCostly(job, timeMsMax))
        if (answer instanceof Error) throw answer
        if (answer.type === 'broken') throw new Error(answer.why)
        return answer.result as Result<ChangeAnswers[Type]> // the worker answers each job with its type
      } finally {
        waiting--
        if (waiting === 0) {
          worker?.unref()
          idle = setTimeout(end, idleMs).unref()
        }
      }
    },
  }
}

const tooCostly = ({ edit }: ChangeJob, timeMsMax: number) =>
  fault(
    'too_large',
    `the change of ${escapeLine(edit.path)} takes more than ${timeMsMax / 1000} seconds or too much memory`,
  )

const ownScript = findScript('./change-worker', import.meta.url)
