import type { Answer, createSerialQueue, Result } from '@holdfast/protocol'
import type { SessionSubmission } from '../../session/input.ts'
import type { RunInBackground } from '../background-tasks.ts'
import type { Arrival } from './arrival-order.ts'

/** How long an abort waits: for the disk to say whether it was sent before, and for commands that arrived before it. */
const lookMsMax = 50
const storageRetryMs = 500

type AbortDeps = {
  /** Runs work after all work that was put in before. */
  readonly enqueue: ReturnType<typeof createSerialQueue>
  /** Stops the work of the turn, before anything is written. */
  readonly interrupt: () => void
  /** Whether what runs now is what the abort names. */
  readonly isMeant: (submission: SessionSubmission) => boolean
  /** Returns the answer to a command that was accepted before; null if it was not. */
  readonly answerBefore: (submission: SessionSubmission) => Promise<Result<Answer> | null>
  /** Records the end of the turn. */
  readonly record: (submission: SessionSubmission) => Promise<Result<Answer>>
  readonly pause: (delayMs: number) => Promise<void>
  readonly isClosed: () => boolean
  readonly inBackground: RunInBackground
}

/** Aborts the running turn: stops the work first and records it afterwards, however long the disk takes. */
export function createAbortTurn(deps: AbortDeps) {
  const { enqueue, isMeant, answerBefore, pause, isClosed, inBackground } = deps
  /** The abort that is not recorded yet. It is dropped when its turn is over: it must not end the next one. */
  const pending = { submission: null as SessionSubmission | null }

  /** Stops nothing if the turn that the abort names has ended. */
  function interrupt(submission: SessionSubmission): void {
    if (isMeant(submission)) deps.interrupt()
  }

  /** Interrupts again before it records: an input that was ahead in the queue may have started new work. */
  function record(submission: SessionSubmission): Promise<Result<Answer>> {
    interrupt(submission)
    return deps.record(submission)
  }

  /** Retries the record until the disk accepts it; the work has stopped already. */
  async function retryRecord(submission: SessionSubmission): Promise<void> {
    pending.submission = submission
    while (pending.submission === submission && !isClosed()) {
      await pause(storageRetryMs)
      await enqueue(async () => pending.submission === submission && record(submission))
    }
  }

  return {
    pending,
    isMeant,
    async abort(submission: SessionSubmission, arrival: Arrival): Promise<Result<Answer>> {
      // A retry must not stop a later turn. But a disk that does not answer must not delay the abort.
      const known = Promise.all([answerBefore(submission).catch(() => null), arrival.before])
      const [first] = await Promise.race([known, pause(lookMsMax).then(() => [null])])
      if (first) return first
      interrupt(submission) // before anything is written, so that it works on a full or stuck disk
      const recording = enqueue(() => record(submission))
      arrival.placed()
      const aborted = await recording
      if (!aborted.ok && aborted.fault.code === 'storage_error')
        inBackground('recording an abort', retryRecord(submission))
      return aborted
    },
  }
}
