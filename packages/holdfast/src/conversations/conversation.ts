import type { OnProblem } from '@holdfast/core/ports'
import { createCommandId, type Fault, type FaultCode, fault, HoldfastError } from '@holdfast/protocol'
import type { ConversationSession } from './conversation-session.ts'
import type { ConversationMessage } from './message.ts'
import { applyOperations, applySummary, type Operation } from './operation.ts'

/** The limits of one write. */
const batchMessagesMax = 1000
const batchCharsMax = 4 * 1024 * 1024
/** The limits of the queue after a failed write. Before a failure the queue is not limited. */
const waitingMax = 20_000
const waitingCharsMax = 32 * 1024 * 1024

/** Faults that a retry cannot fix. */
const finalCodes: ReadonlySet<FaultCode> = new Set(['bad_request', 'bad_id', 'too_large', 'bad_workdir'])

type Batch = { readonly commandId: string; readonly operations: readonly Operation[] }

export type Conversation = ReturnType<typeof createConversation>

/** One conversation: queues operations in order, writes them in batches, and reports every one it drops. */
export function createConversation(key: string, session: ConversationSession, onProblem: OnProblem) {
  const waiting: Operation[] = []
  let waitingChars = 0
  let batch: Batch | null = null
  let isBlocked = false
  let failure: Fault | null = null
  let isScheduled = false
  let busy = 0
  let last: Promise<unknown> = Promise.resolve()
  /** The workdir of the first change: it starts the session. */
  let workdir: string | null = null

  /** Runs work one at a time, so that a read sees every earlier write. */
  function serialize<Value>(work: () => Promise<Value>): Promise<Value> {
    busy++
    const done = last.then(work)
    last = done.catch(() => undefined).finally(() => busy--)
    return done
  }

  /** Records a failure, which the next `save` throws. */
  function fail(fault: Fault): void {
    failure ??= fault
    onProblem({ where: `conversation ${JSON.stringify(key)}`, cause: fault })
  }

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return
    isScheduled = true
    void serialize(write)
  }

  async function write(): Promise<void> {
    isScheduled = false
    while (waiting.length > 0) {
      // A retry keeps messages and command id, so that a batch is written once even if its answer was lost.
      batch ??= { commandId: createCommandId(), operations: nextBatch(waiting) }
      const refusal = await writeBatch(batch)
      if (refusal) fail(refusal)
      isBlocked = refusal !== null && !finalCodes.has(refusal.code)
      if (isBlocked) return // retried with the next call
      waitingChars -= batch.operations.reduce((sum, { chars }) => sum + chars, 0)
      waiting.splice(0, batch.operations.length)
      batch = null
    }
  }

  async function writeBatch({ operations, commandId }: Batch): Promise<Fault | null> {
    try {
      const written = await session.write(operations, commandId, workdir ?? '.')
      return written.ok ? null : written.fault
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : cause
      return fault('internal', `The conversation could not be written: ${why}`)
    }
  }

  return {
    fail,
    put(operation: Operation, givenWorkdir: string): void {
      workdir ??= givenWorkdir
      const isTooMuch = waiting.length >= waitingMax || waitingChars + operation.chars > waitingCharsMax
      if (isBlocked && isTooMuch) {
        fail(fault('too_large', 'The store rejects writes and the queue is full: this message was dropped.', { key }))
      } else {
        waiting.push(operation)
        waitingChars += operation.chars
      }
      schedule() // also after a drop: otherwise a caller that only adds would never retry
    },
    history(): Promise<readonly ConversationMessage[]> {
      schedule()
      return serialize(async () => {
        const stored = (await session.history()).map(({ message }) => message)
        return applyOperations(stored, waiting)
      })
    },
    summary(): Promise<string> {
      schedule()
      return serialize(async () => applySummary(await session.summary(), waiting))
    },
    /** Resolves when all operations are durable; rejects once after a failure. */
    async save(): Promise<void> {
      schedule()
      await serialize(async () => undefined)
      if (failure === null) return
      const reported = failure
      failure = null
      throw new HoldfastError(reported)
    },
    /** Returns whether nothing is queued or running and no failure is unreported. */
    isIdle: (): boolean => busy === 0 && waiting.length === 0 && failure === null,
  }
}

/** Takes consecutive messages together; any other operation alone. */
function nextBatch(waiting: readonly Operation[]): readonly Operation[] {
  const [first] = waiting
  if (first?.type !== 'add') return waiting.slice(0, 1)
  let chars = 0
  const end = waiting.findIndex((operation, index) => {
    chars += operation.chars
    return operation.type !== 'add' || index >= batchMessagesMax || (index > 0 && chars > batchCharsMax)
  })
  return waiting.slice(0, end === -1 ? waiting.length : end)
}
