import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '@holdfast/core/ports'
import { GivenFacts, ModelName } from '@holdfast/protocol'
import type { FactsByModel } from '../catalogue/facts-by-model.ts'
import type { Reach } from '../connect/reach.ts'
import { isOnThisMachine } from '../services/address.ts'
import { KeyWanted } from './ask-json.ts'
import { askList } from './ask-list.ts'
import { askOllama } from './ask-ollama.ts'
import { listens } from './listens.ts'

/** Whoever lists models waits for no longer than this; hardly anyone else waits at all. */
export const lookMsMax = 250
/** Of that time: a door of one's own machine is opened at once or not at all. */
const knockingPart = 0.2
/** And until then answers count, also where a server has not told everything. The rest is for hearing them. */
const askingPart = 0.7

/** What the servers on this machine said when they were last asked. */
export interface LocalModels {
  /** Asks each that may run here. Never rejects, and is over in time whatever they do. */
  look(): Promise<void>
  /** Resolves once they were asked, be it before. */
  looked(): Promise<void>
  /** Whether a service is asked, and did not answer: only such a one can be known to be away. */
  isAway(reach: Reach): boolean
  /** What is known of the models of all that answered. */
  facts(): FactsByModel
  close(): void
}

export type LocalModelsDeps = {
  /** Where the services are now. */
  readonly reach: () => readonly Reach[]
  /** How long a look takes at most; 0 when nobody is to be asked. */
  readonly lookMs: number
  readonly clock: Clock
  /** Called after a look that found something else than the one before. */
  readonly onChanged: () => void
}

type Answered = ReadonlyMap<string, FactsByModel>

export function createLocalModels({ reach, lookMs, clock, onChanged }: LocalModelsDeps): LocalModels {
  const closing = new AbortController()
  let answered: Answered = new Map()
  let facts: FactsByModel = {}
  let looking: Promise<void> | null = null
  let first: Promise<void> | null = null

  const isAsked = ({ service, baseUrl, isAddressGiven, wrongAddress }: Reach): boolean =>
    lookMs > 0 &&
    wrongAddress === null &&
    service.asked !== undefined &&
    isOnThisMachine(baseUrl) &&
    (isAddressGiven || !service.isAskedOnlyWhereNamed)

  async function ask(): Promise<void> {
    const { signal: over, within, end } = createTimes(clock, closing.signal, lookMs)
    try {
      const found = await askAll(reach().filter(isAsked), within)
      if (over.aborted || isDeepStrictEqual(found, answered)) return
      answered = found
      facts = Object.assign({}, ...found.values())
      onChanged()
    } finally {
      end()
    }
  }

  function look(): Promise<void> {
    looking ??= ask().finally(() => {
      looking = null
    })
    first ??= looking
    return looking
  }

  return {
    look,
    looked: () => first ?? look(),
    isAway: (one) => isAsked(one) && !answered.has(one.service.name),
    facts: () => facts,
    close: () => closing.abort(),
  }
}

/** Signals for parts of the time a look has; all of them end with `signal`. */
function createTimes(clock: Clock, signal: AbortSignal, lookMs: number) {
  const timers: (() => void)[] = []
  return {
    signal,
    within(part: number): AbortSignal {
      const over = new AbortController()
      timers.push(clock.after(Math.round(part * lookMs), () => over.abort()))
      return AbortSignal.any([signal, over.signal])
    },
    end() {
      for (const takeBack of timers) takeBack()
    },
  }
}

async function askAll(asked: readonly Reach[], within: (part: number) => AbortSignal): Promise<Answered> {
  const knocking = within(knockingPart)
  const heard = await Promise.all(asked.map(({ baseUrl }) => listens(baseUrl, knocking)))
  const there = asked.filter((_, index) => heard[index])
  if (there.length > 0) new Headers() // loads what speaks HTTP: that takes our time, and not theirs
  const signals = { asking: within(askingPart), looking: within(1 - knockingPart) }
  const found = await Promise.all(there.map((one) => askOne(one, signals)))
  return new Map(found.flatMap((one) => one ?? []))
}

/** What one server tells; null when it does not answer, or answers something else: then it is none of ours. */
async function askOne(
  { service, baseUrl }: Reach,
  { asking, looking }: { readonly asking: AbortSignal; readonly looking: AbortSignal },
): Promise<[[string, FactsByModel]] | null> {
  const ask = service.asked === 'ollama' ? askOllama : askList
  try {
    return [[service.name, named(service.name, await inTime(ask(baseUrl, asking), looking))]]
  } catch (error) {
    return error instanceof KeyWanted ? [[service.name, {}]] : null
  }
}

/** Asking ends when the time does, also if the network library should not hear of it. */
function inTime<Value>(asked: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const give = () => reject(signal.reason)
    signal.addEventListener('abort', give, { once: true })
    if (signal.aborted) give()
    asked.then(resolve, reject).finally(() => signal.removeEventListener('abort', give))
  })
}

function named(service: string, models: ReadonlyMap<string, GivenFacts>): FactsByModel {
  const entries = [...models].map(([id, facts]) => [`${service}/${id}`, credible(facts)] as const)
  return Object.fromEntries(entries.filter(([name]) => ModelName.safeParse(name).success))
}

/** Anything may listen there: of what it tells, each fact counts that could stand in a catalogue. */
function credible(facts: GivenFacts): GivenFacts {
  const told = GivenFacts.safeParse(facts)
  if (told.success) return told.data
  const wrong = new Set(told.error.issues.map(({ path }) => path[0]))
  return Object.fromEntries(Object.entries(facts).filter(([name]) => !wrong.has(name)))
}
