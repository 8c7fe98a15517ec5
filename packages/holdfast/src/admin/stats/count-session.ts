import { countedMessageEvents, type Event, modelCallEvents, type Tally, type Usage, usageOf } from '@holdfast/protocol'
import { everyRecordOf, type ReadOnlyStore, type StoreSession } from '../../store/read-only-store.ts'

export type Sums = {
  readonly total: Sum
  readonly days: Map<string, Sum>
  readonly models: Map<string, Sum>
  readonly workspaces: Map<string, Sum>
}

export const createSums = (): Sums => ({
  total: createSum(),
  days: new Map(),
  models: new Map(),
  workspaces: new Map(),
})

/** The types whose records are read; all others, and so all large ones, are only counted. */
const readTypes: ReadonlySet<string> = new Set(['step.started', ...modelCallEvents])
const countedMessages: ReadonlySet<string> = new Set(countedMessageEvents)

/** Adds the messages and the usage of a session. What no model call produced counts for the session's model. */
export async function countSession(source: ReadOnlyStore, session: StoreSession, sums: Sums): Promise<void> {
  const meta = session.entry?.meta
  if (meta === undefined) return
  const add = (sum: Sum, day: string, model: string) => {
    addSum(sums.total, sum)
    addSum(getSum(sums.days, day), sum)
    addSum(getSum(sums.workspaces, meta.workspace), sum)
    addSum(getSum(sums.models, model), sum)
  }
  for (const { type, day, count } of await source.countOwn(session.id)) {
    if (countedMessages.has(type)) add({ ...createSum(), messages: count }, day, meta.model)
    if (type === 'turn.started') add({ ...createSum(), turns: count }, day, meta.model)
  }
  let stepModel: string = meta.model
  for await (const record of everyRecordOf(source, session, readTypes)) {
    if ('lost' in record) continue
    const { at, event } = record
    if (event.type === 'step.started') stepModel = event.model
    const usage = usageOf(event)
    const sum = usage === undefined ? createSum() : createCallSum(usage)
    if (sum.calls > 0) add(sum, at.slice(0, 10), findModel(event, stepModel, meta.model))
  }
}

/** Returns the model of an event: a step's own, or the recorded writer of a title or a summary. */
function findModel(event: Event, stepModel: string, sessionModel: string): string {
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

function getSum(sums: Map<string, Sum>, name: string): Sum {
  const sum = sums.get(name) ?? createSum()
  sums.set(name, sum)
  return sum
}

/** A tally that is being added up. */
export type Sum = { -readonly [Name in keyof Tally]: Tally[Name] } & { cost: number }

const createSum = (): Sum => ({
  messages: 0,
  turns: 0,
  calls: 0,
  unpriced: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cost: 0,
})

/** Returns the sum of one model call; `usage` is null if it is unknown. */
function createCallSum(usage: Usage | null): Sum {
  const { input, output, cacheRead, cacheWrite, cost } = usage ?? { ...createSum(), cost: null }
  const unpriced = cost === null ? 1 : 0
  return { ...createSum(), calls: 1, unpriced, input, output, cacheRead, cacheWrite, cost: cost ?? 0 }
}

function addSum(sum: Sum, more: Sum): void {
  for (const name of Object.keys(more) as (keyof Sum)[]) sum[name] += more[name] // the keys of a Sum
}

export const toTally = (sum: Sum): Tally => ({
  ...sum,
  cost: sum.calls > 0 && sum.unpriced === sum.calls ? null : Math.round(sum.cost * 1e9) / 1e9,
})
