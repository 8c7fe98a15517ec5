import { isDeepStrictEqual } from 'node:util'
import { buildRequest, type SessionState } from '@holdfast/core'
import type { ModelRequest } from '@holdfast/core/ports'
import { addSpent, dayOf, invariant, noneSpent, type Spent, spentOf } from '@holdfast/protocol'
import { historyModels, historyProviders, validateHistory } from '@holdfast/testkit'
import { readBlob, readFiles } from '../../packages/core/src/runtime/blobs/read-blob.ts'
import { readWindow } from '../../packages/core/src/runtime/log/read-window.ts'
import { openCalls } from '../../packages/core/src/session/state.ts'
import { type Simulation, session } from './simulation.ts'

/** Checks the invariants that hold between any two steps. */
export function checkNow({ host, durableLog, drivers }: Simulation): void {
  drivers.look()
  invariant(durableLog.violations.length === 0, durableLog.violations.join('\n'))
  const live = host().registry.loaded(session)?.folded()
  if (live)
    invariant(isDeepStrictEqual(live, durableLog.at(live.state.seq)), `at ${live.state.seq} live is not the folded log`)
}

/** Checks that every service would accept the history if a model were called now. */
export async function checkRequest(simulation: Simulation): Promise<void> {
  const state = simulation.durableLog.at(simulation.durableLog.head())?.state
  if (!state || state.turns === 0) return
  const parts = await partsAt(simulation, state)
  const problems = historyProviders.flatMap((provider) =>
    [parts.model, historyModels[provider]].flatMap((model) =>
      validateHistory(provider, buildRequest({ ...parts, model })),
    ),
  )
  invariant(problems.length === 0, `a request at ${state.seq} would be refused: ${problems.join('; ')}`)
}

const requestAt = async (simulation: Simulation, state: SessionState): Promise<ModelRequest> =>
  buildRequest(await partsAt(simulation, state))

async function partsAt({ store, blobs }: Simulation, state: SessionState): Promise<Parameters<typeof buildRequest>[0]> {
  const window = await readWindow(store, session, state)
  const { turn, settings } = state
  const { model, thinkingLevel } = turn.phase === 'thinking' ? turn : settings
  const text = async (which: 'system' | 'tools') => {
    const bytes = state.context && (await readBlob(blobs, state.context[which]))
    return bytes ? Buffer.from(bytes).toString('utf8') : null
  }
  const [system, tools] = [(await text('system')) ?? '', JSON.parse((await text('tools')) ?? '[]')]
  return { model, thinkingLevel, system, tools, window, files: await readFiles(blobs, window) }
}

/** Checks that the log alone reproduces each request byte for byte, with the mode of that time. */
export async function checkReplay(simulation: Simulation): Promise<void> {
  for (const { start, request } of simulation.requests) {
    const { step, isDurable } = start
    const state = simulation.durableLog.at(step)?.state
    if (!state || !isDurable) continue // the answer of a step that was never recorded was not used either
    const again = await requestAt(simulation, state)
    invariant(JSON.stringify(again) === JSON.stringify(request), `the request of step ${step} cannot be built again`)
    invariant(again.system.includes(` ${state.settings.mode} mode`), `step ${step} has instructions of another mode`)
  }
}

/** Checks that a session owned by a live process continues without a client. */
export async function checkWork(simulation: Simulation): Promise<void> {
  const row = await simulation.store.entry(session)
  if (row?.owner === simulation.host().life.node) checkRest(simulation)
}

/** Checks that without new commands the session is idle or waits for an approval. */
export function checkRest({ durableLog }: Simulation): void {
  const state = durableLog.at(durableLog.head())?.state
  invariant(state, 'there is a session')
  const isWaiting = openCalls(state).length > 0 && openCalls(state).every(({ status }) => status === 'asked')
  invariant(
    state.turn.phase === 'idle' || isWaiting,
    `the session is left in ${JSON.stringify(state.turn)} and no work runs`,
  )
}

/** Checks that what was spent is what the records say, however often processes crashed: nothing is lost, nothing counts twice. */
export async function checkSpending({ durableLog, store }: Simulation): Promise<void> {
  const days = new Map<string, Spent>()
  for (const { at, event } of durableLog.records) {
    const spent = spentOf(event)
    if (spent) days.set(dayOf(at), addSpent(days.get(dayOf(at)) ?? noneSpent, spent))
  }
  for (const [day, spent] of days) {
    const { total } = await store.listSpending(day, 1)
    invariant(
      isDeepStrictEqual(total, spent),
      `on ${day} ${JSON.stringify(total)} was spent, but the log says ${JSON.stringify(spent)}`,
    )
  }
}
