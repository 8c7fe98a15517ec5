import type { OnProblem } from '@holdfast/core/ports'
import { createCommandId, type Fault, type FaultCode, fault, HoldfastError } from '@holdfast/protocol'
import type { ConversationSession } from './conversation-session.ts'
import type { ConversationMessage } from './message.ts'
import { applyTo, type Operation, summaryAfter } from './operation.ts'

/** What goes into the log at once. */
const batchMessagesMax = 1000
const batchCharsMax = 4 * 1024 * 1024
/** What a conversation holds in memory once a write was refused. Before that all is taken: it is on its way. */
const waitingMax = 20_000
const waitingCharsMax = 32 * 1024 * 1024

/** What is refused for good: asked again, it would be refused again. */
const final: ReadonlySet<FaultCode> = new Set(['bad_request', 'bad_id', 'too_large', 'bad_workdir'])

type Batch = { readonly commandId: string; readonly operations: readonly Operation[] }

/** One conversation: what its program does waits in order, goes into the log many at once, and is never dropped unsaid. */
export interface Conversation {
  put(operation: Operation): void
  /** A failure that the next `save` tells of. */
  note(failure: Fault): void
  history(): Promise<readonly ConversationMessage[]>
  summary(): Promise<string>
  /** Resolves when all that was put is durable; rejects once for each failure. */
  save(): Promise<void>
  /** Whether nothing waits, nothing is under way and nothing is left to be told. */
  isAtRest(): boolean
}

export function createConversation(key: string, session: ConversationSession, onProblem: OnProblem): Conversation {
  const waiting: Operation[] = []
  let waitingChars = 0
  let batch: Batch | null = null
  let isHeldUp = false
  let failure: Fault | null = null
  let isDue = false
  let busy = 0
  let last: Promise<unknown> = Promise.resolve()

  /** One thing at a time: what is read is what was written before, and nothing in between. */
  function inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    busy++
    const done = last.then(work)
    last = done.catch(() => undefined).finally(() => busy--)
    return done
  }

  function note(fault: Fault): void {
    failure ??= fault
    onProblem({ where: `conversation ${JSON.stringify(key)}`, cause: fault })
  }

  function wake(): void {
    if (isDue || waiting.length === 0) return
    isDue = true
    void inTurn(write)
  }

  async function write(): Promise<void> {
    isDue = false
    while (waiting.length > 0) {
      // The same messages under the same id: a batch that got there though its answer did not is written once.
      batch ??= { commandId: createCommandId(), operations: nextBatch(waiting) }
      const refusal = await refusalOf(batch)
      if (refusal) note(refusal)
      isHeldUp = refusal !== null && !final.has(refusal.code)
      if (isHeldUp) return // it waits, and is tried again with what comes next
      waitingChars -= batch.operations.reduce((sum, { chars }) => sum + chars, 0)
      waiting.splice(0, batch.operations.length)
      batch = null
    }
  }

  async function refusalOf({ operations, commandId }: Batch): Promise<Fault | null> {
    try {
      const written = await session.write(operations, commandId)
      return written.ok ? null : written.fault
    } catch (cause) {
      return fault(
        'internal',
        `The conversation could not be written: ${cause instanceof Error ? cause.message : cause}`,
      )
    }
  }

  return {
    note,
    put(operation) {
      const isTooMuch = waiting.length >= waitingMax || waitingChars + operation.chars > waitingCharsMax
      if (isHeldUp && isTooMuch) {
        note(fault('too_large', 'Nothing can be written, and too much waits already: this was dropped.', { key }))
      } else {
        waiting.push(operation)
        waitingChars += operation.chars
      }
      wake() // also when nothing was added: who only ever adds would never find the store well again
    },
    history() {
      wake()
      return inTurn(async () => {
        const stored = await session.history()
        return applyTo(
          stored.map(({ message }) => message),
          waiting,
        )
      })
    },
    summary() {
      wake()
      return inTurn(async () => summaryAfter(await session.summary(), waiting))
    },
    async save() {
      wake()
      await inTurn(async () => undefined)
      if (failure === null) return
      const told = failure
      failure = null
      throw new HoldfastError(told)
    },
    isAtRest: () => busy === 0 && waiting.length === 0 && failure === null,
  }
}

/** Messages that follow each other go together; everything else alone. */
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
