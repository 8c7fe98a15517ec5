import type { ModelName } from '@holdfast/protocol'
import { errorMessage } from '@holdfast/protocol'
import fc, { type AsyncCommand } from 'fast-check'
import { count } from '../coverage.ts'
import { replay } from '../runs.ts'
import { settlePromises } from '../scheduler.ts'
import { type Checked, check, checkRestart, unchecked } from './check.ts'
import { prompt, type Seen, type Step } from './commands.ts'
import { aStep } from './draw.ts'
import { openRequestsFixture, type RequestsFixture } from './fixture.ts'
import { requestRuns } from './runs.ts'
import { allModels } from './service-apis.ts'

/** The state of a run. */
type RunState = { readonly fixture: RequestsFixture; readonly checked: Checked; readonly done: Step[]; seen: Seen }

async function startRun(model: ModelName): Promise<RunState> {
  const fixture = await openRequestsFixture(model)
  const run: RunState = { fixture, checked: unchecked(), done: [], seen: { isIdle: true, asks: false } }
  await act(run, prompt('Begin.')) // an empty session is removed with its process
  return run
}

async function act(run: RunState, step: Step): Promise<void> {
  const { fixture, checked } = run
  await step.run(fixture)
  await settlePromises()
  count(step.kind)
  const { turn } = await check(fixture, checked)
  run.seen = {
    isIdle: turn.phase === 'idle',
    asks: turn.phase === 'acting' && turn.calls.some(({ status }) => status === 'asked'),
  }
}

const commandOf = (step: Step): AsyncCommand<RunState, null> => ({
  check: ({ fixture, seen }) => step.isApt(fixture, seen),
  async run(state) {
    state.done.push(step)
    await act(state, step)
  },
  toString: () => step.code,
})

/** A recorded run: its first model and its steps. */
export type RequestRun = readonly [ModelName, ...Step[]]

/** Checks the end of a run. */
export type AtEnd = (fixture: RequestsFixture) => Promise<void>

export async function runRequestSteps([model, ...steps]: RequestRun, atEnd: AtEnd = checkRestart): Promise<void> {
  const run = await startRun(model)
  for (const step of steps) if (step.isApt(run.fixture, run.seen)) await act(run, step)
  await atEnd(run.fixture)
}

/** Runs the moves of a seed. A failing run is shortened until no move can be left out. */
export async function runRequestsSeed(seed: number, atEnd: AtEnd = checkRestart): Promise<void> {
  let failing: RequestRun | null = null
  const commands = fc.commands([aStep.map(commandOf)], { maxCommands: requestRuns.commandsMax, size: 'max' })
  const property = fc.asyncProperty(fc.constantFrom(...allModels), commands, async (first, drawn) => {
    const model = await startRun(first)
    try {
      await fc.asyncModelRun(() => ({ model, real: null }), drawn)
      await atEnd(model.fixture)
    } catch (cause) {
      failing = [first, ...model.done]
      throw cause
    }
  })
  const { errorInstance } = await fc.check(property, { seed, numRuns: 1, unbiased: true, endOnFailure: true })
  if (failing === null) {
    if (errorInstance) throw errorInstance
    return
  }
  const [model, ...steps] = await shorten(failing, atEnd)
  const cause = (await problemOf([model, ...steps], atEnd)) ?? errorInstance
  const problem = errorMessage(cause)
  const code = [`'${model}'`, ...steps.map((step) => step.code)].join(',\n  ')
  throw new Error(`${replay(seed, 'requests')}\n${problem}\nThe shortest run that fails:\n  ${code}`, { cause })
}

const problemOf = (run: RequestRun, atEnd: AtEnd): Promise<unknown> =>
  runRequestSteps(run, atEnd).then(
    () => null,
    (cause: unknown) => cause,
  )

async function shorten([model, ...steps]: RequestRun, atEnd: AtEnd): Promise<RequestRun> {
  for (const index of steps.keys()) {
    const shorter: RequestRun = [model, ...steps.toSpliced(index, 1)]
    if (await problemOf(shorter, atEnd)) return shorten(shorter, atEnd)
  }
  return [model, ...steps]
}
