import { type Answer, ok, type Recorded, type Result, type Submission } from '@holdfast/protocol'
import { answerOf } from '../../session/decide.ts'
import type { RunInBackground } from '../background-tasks.ts'
import type { Mailbox } from './mailbox.ts'

/** How long a disk may take to say whether an abort was sent before: it must not hold one up. */
const lookMsMax = 50
const storageRetryMs = 500

/** Ends the running turn at a person's word: the work first, the record after it, however long the disk takes. */
interface AbortTurn {
  abort(submission: Submission): Promise<Result<Answer>>
  /** The turn is over, however it ended: an abort that is still to be recorded was owed to it, not to the next. */
  forget(): void
}

type AbortDeps = {
  readonly mailbox: Mailbox
  /** Stops what the turn runs, before anything is written. */
  readonly interrupt: () => void
  readonly findCommand: (id: Submission['commandId']) => Promise<Recorded | null>
  /** Puts the end of the turn on record. */
  readonly record: (submission: Submission) => Promise<Result<Answer>>
  readonly pause: (delayMs: number) => Promise<void>
  readonly isClosed: () => boolean
  readonly inBackground: RunInBackground
}

export function createAbortTurn(parts: AbortDeps): AbortTurn {
  const { mailbox, interrupt, findCommand, pause, isClosed, inBackground } = parts
  let owed: Submission | null = null

  /** What was on its way to be recorded may have begun something since; that stops before this is written, too. */
  function record(submission: Submission): Promise<Result<Answer>> {
    interrupt()
    return parts.record(submission)
  }

  /** The work has stopped though the disk could not be told; it is told as soon as it listens. */
  async function owe(submission: Submission): Promise<void> {
    owed = submission
    while (owed === submission && !isClosed()) {
      await pause(storageRetryMs)
      await mailbox.put(async () => owed === submission && record(submission))
    }
  }

  return {
    async abort(submission) {
      // Sent again, it must not stop the turn that has begun since. But a disk that does not answer must not hold it up.
      const known = findCommand(submission.commandId).catch(() => null)
      const first = await Promise.race([known, pause(lookMsMax).then(() => null)])
      if (first) return ok(answerOf(first))
      interrupt() // before anything is written, so that it works on a full or stuck disk
      const aborted = await mailbox.put(() => record(submission))
      if (!aborted.ok && aborted.fault.code === 'storage_error') inBackground('recording an abort', owe(submission))
      return aborted
    },
    forget() {
      owed = null
    },
  }
}

/** What is done for commands outside the mailbox and takes its time, such as a summary that a model writes. */
interface SideWork {
  /** Ends what is under way now, when someone aborts. */
  signal(): AbortSignal
  end(): void
  /** Whether someone waits for one: the session is in use. */
  isBusy(): boolean
  /** Does work that someone waits for; `done` is called however it ends. */
  during<Value>(work: () => Promise<Value>): Promise<Value>
}

export function createSideWork(done: () => void): SideWork {
  let current = new AbortController()
  let busy = 0
  return {
    signal: () => current.signal,
    end() {
      current.abort()
      current = new AbortController()
    },
    isBusy: () => busy > 0,
    async during(work) {
      busy++
      try {
        return await work()
      } finally {
        busy--
        done()
      }
    },
  }
}
