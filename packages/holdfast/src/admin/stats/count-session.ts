import { type Event, isMessageEvent, messageEvents, modelCallEvents, usageOf } from '@holdfast/protocol'
import { everyRecordOf, type KeptSession, type ReadOnlyStore } from '../../store/read-only-store.ts'
import { addSum, callSum, emptySum, type Sum } from './tally.ts'

export type Sums = {
  readonly total: Sum
  readonly days: Map<string, Sum>
  readonly models: Map<string, Sum>
  readonly workspaces: Map<string, Sum>
}

export const createSums = (): Sums => ({
  total: emptySum(),
  days: new Map(),
  models: new Map(),
  workspaces: new Map(),
})

/** What is read; of all else, and so of what is large, only the number is asked for. */
const readTypes: ReadonlySet<string> = new Set(['step.started', ...modelCallEvents])
const countedMessages: ReadonlySet<string> = new Set(messageEvents.filter((type) => !readTypes.has(type)))

/** Adds what was said and used in a session. What is no call of a model is of the one the session has. */
export async function countSession(source: ReadOnlyStore, session: KeptSession, sums: Sums): Promise<void> {
  const meta = session.entry?.meta
  if (meta === undefined) return
  const add = (sum: Sum, day: string, model: string) => {
    addSum(sums.total, sum)
    addSum(sumAt(sums.days, day), sum)
    addSum(sumAt(sums.workspaces, meta.workspace), sum)
    addSum(sumAt(sums.models, model), sum)
  }
  for (const { type, day, count } of await source.countOwn(session.id)) {
    if (countedMessages.has(type)) add({ ...emptySum(), messages: count }, day, meta.model)
    if (type === 'turn.started') add({ ...emptySum(), turns: count }, day, meta.model)
  }
  let stepModel: string = meta.model
  for await (const record of everyRecordOf(source, session, readTypes)) {
    if ('lost' in record) continue
    const { at, event } = record
    if (event.type === 'step.started') stepModel = event.model
    const usage = usageOf(event)
    const sum = usage === undefined ? emptySum() : callSum(usage)
    if (isMessageEvent(event)) sum.messages = 1
    if (sum.calls + sum.messages > 0) add(sum, at.slice(0, 10), calledBy(event, stepModel, meta.model))
  }
}

/** A step is of the model it began with, a title or a summary of the one that wrote it, where that is on record. */
function calledBy(event: Event, stepModel: string, sessionModel: string): string {
  switch (event.type) {
    case 'step.ended':
      return stepModel
    case 'settings.changed':
      return event.named?.model ?? sessionModel
    case 'checkpoint.written':
    case 'summary.saved':
      return event.model ?? sessionModel
    default:
      return sessionModel
  }
}

function sumAt(sums: Map<string, Sum>, name: string): Sum {
  const known = sums.get(name) ?? emptySum()
  sums.set(name, known)
  return known
}
