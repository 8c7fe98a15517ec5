import { isDeepStrictEqual } from 'node:util'
import type { EncodedRecord } from '@holdfast/core/ports'
import { type Event, InvariantViolation, limits, type Recorded, type SessionId } from '@holdfast/protocol'
import { type Folded, fold } from '../../packages/core/src/runtime/log/load-session.ts'
import { findCall, openCalls } from '../../packages/core/src/session/state.ts'
import { createRecordChecker } from './record-checker.ts'

/** A copy of the durable records, taken at the moment of each append. */
export type DurableLog = {
  readonly records: readonly Recorded[]
  /** Violations found by any part of the simulation. */
  readonly violations: string[]
  /** Returns the fold of the first `seq` records. */
  at(seq: number): Folded | null
  head(): number
  add(session: SessionId, batch: readonly EncodedRecord[]): void
  /** Checks that a record a subscriber received is durable and unchanged. */
  mustHold(record: Recorded): void
  /** Checks a model call: no part of its answer may be recorded yet, and the number of retries is limited. */
  mustBeSilent(step: number): void
  /** Checks a tool before its first change. */
  mustBeStarted(nonce: string, isOwner: boolean, isReadOnly: boolean): void
}

export function createDurableLog(): DurableLog {
  const violations: string[] = []
  function must(condition: unknown, message: string): asserts condition {
    if (condition) return
    violations.push(message)
    throw new InvariantViolation(message)
  }
  const records: Recorded[] = []
  const folds: Folded[] = []
  const ran = new Set<string>()
  const commands = new Set<string>()
  const accounts = createRecordChecker()
  const settled = new Set<number>()
  const at = (seq: number) => folds[seq - 1] ?? null

  function addOne(session: SessionId, record: Recorded): void {
    const { event, commandId } = record
    must(record.seq === records.length + 1, `seq ${record.seq} follows ${records.length}`)
    if (commandId !== undefined) {
      must(!commands.has(commandId), `command ${commandId} is admitted twice`)
      commands.add(commandId)
    }
    if (event.type === 'call.settled') {
      must(!settled.has(event.call), `call ${event.call} settles twice`)
      settled.add(event.call)
    }
    records.push(record)
    folds.push(fold(folds.at(-1) ?? null, session, record))
    const state = folds.at(-1)?.state
    must(state, `seq ${record.seq} gives no state`)
    const problem = accounts.problemWith(record, state)
    must(problem === null, problem ?? '')
    must(state.turn.phase !== 'acting' || openCalls(state).length > 0, `seq ${record.seq} acts without a call`)
  }

  return {
    records,
    violations,
    at,
    head: () => records.length,
    add(session, batch) {
      const before = folds.at(-1)?.state
      const isCommand = batch[0]?.record.commandId !== undefined
      for (const { record, body } of batch) {
        const stored: Recorded = { ...record, event: JSON.parse(body) }
        const { event } = stored
        if (!isCommand && before && event.type === 'call.settled') {
          must(findCall(before, event.call)?.status !== 'asked', `the question for call ${event.call} was dropped`)
        }
        addOne(session, stored)
      }
    },
    mustHold(record) {
      must(isDeepStrictEqual(records[record.seq - 1], record), `record ${record.seq} was shown and is not in the store`)
    },
    mustBeSilent(step) {
      const since = records.slice(step)
      // A new owner has interrupted the step, but the former owner does not know it yet.
      const isTaken = (event: Event) => event.type === 'step.ended' && event.finish === 'interrupted'
      const recorded = since.find(({ event }) => 'step' in event && event.step === step && !isTaken(event))
      must(recorded === undefined, `the model of step ${step} is asked after ${recorded?.seq} ${recorded?.event.type}`)
      const retries = since.filter(({ event }) => event.type === 'note.added' && event.code === 'retry')
      must(
        retries.length <= limits.retriesMax,
        `the model of step ${step} is asked for the ${retries.length + 1}th time`,
      )
    },
    mustBeStarted(nonce, isOwner, isReadOnly) {
      must(!ran.has(nonce), `the call ${nonce} ran twice`)
      ran.add(nonce)
      const call = records.find(({ event }) => event.type === 'call.requested' && event.args['nonce'] === nonce)?.seq
      const begun = records.find(({ event }) => event.type === 'call.started' && event.call === call)
      const has = (type: string) =>
        records.some(({ event }) => event.type === type && 'call' in event && event.call === call)
      must(call !== undefined, `the call ${nonce} ran and was never asked for`)
      must(has('call.approved'), `call ${call} ran unapproved`)
      must(has('call.started'), `call ${call} ran before its start was durable`)
      must(
        isReadOnly || (begun && at(begun.seq)?.state.settings.mode === 'exec'),
        `call ${call} changed something in plan mode`,
      )
      must(!isOwner || !has('call.settled'), `call ${call} ran after it was settled`)
    },
  }
}
