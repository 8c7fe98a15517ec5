import type { ModelName } from '@holdfast/protocol'
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

/** What a story knows of the house it plays in. */
type RunState = { readonly fixture: RequestsFixture; readonly checked: Checked; readonly told: Step[]; seen: Seen }

async function beginStory(model: ModelName): Promise<RunState> {
  const fixture = await openRequestsFixture(model)
  const story: RunState = { fixture, checked: unchecked(), told: [], seen: { isIdle: true, asks: false } }
  await act(story, prompt('Begin.')) // what nobody spoke in does not outlive its process
  return story
}

async function act(story: RunState, step: Step): Promise<void> {
  const { fixture, checked } = story
  await step.run(fixture)
  await settlePromises()
  count(step.kind)
  const { turn } = await check(fixture, checked)
  story.seen = {
    isIdle: turn.phase === 'idle',
    asks: turn.phase === 'acting' && turn.calls.some(({ status }) => status === 'asked'),
  }
}

const commandOf = (step: Step): AsyncCommand<RunState, null> => ({
  check: ({ fixture, seen }) => step.isApt(fixture, seen),
  async run(story) {
    story.told.push(step)
    await act(story, step)
  },
  toString: () => step.code,
})

/** A story that someone wrote down: with which model it begins, and what comes then. */
export type RequestRun = readonly [ModelName, ...Step[]]

/** What must hold once a story is told. */
export type AtEnd = (fixture: RequestsFixture) => Promise<void>

export async function runRequestSteps([model, ...steps]: RequestRun, atEnd: AtEnd = checkRestart): Promise<void> {
  const story = await beginStory(model)
  for (const step of steps) if (step.isApt(story.fixture, story.seen)) await act(story, step)
  await atEnd(story.fixture)
}

/** Runs the moves of a seed. A failing run is shortened until no move can be left out. */
export async function runRequestsSeed(seed: number, atEnd: AtEnd = checkRestart): Promise<void> {
  let told: RequestRun | null = null
  const commands = fc.commands([aStep.map(commandOf)], { maxCommands: requestRuns.commandsMax, size: 'max' })
  const property = fc.asyncProperty(fc.constantFrom(...allModels), commands, async (first, drawn) => {
    const model = await beginStory(first)
    try {
      await fc.asyncModelRun(() => ({ model, real: null }), drawn)
      await atEnd(model.fixture)
    } catch (cause) {
      told = [first, ...model.told]
      throw cause
    }
  })
  const { errorInstance } = await fc.check(property, { seed, numRuns: 1, unbiased: true, endOnFailure: true })
  if (told === null) {
    if (errorInstance) throw errorInstance
    return
  }
  const [model, ...steps] = await shorten(told, atEnd)
  const cause = (await problemOf([model, ...steps], atEnd)) ?? errorInstance
  const problem = cause instanceof Error ? cause.message : String(cause)
  const code = [`'${model}'`, ...steps.map((step) => step.code)].join(',\n  ')
  throw new Error(`${replay(seed, 'requests')}\n${problem}\nThe shortest story that shows it:\n  ${code}`, { cause })
}

const problemOf = (story: RequestRun, atEnd: AtEnd): Promise<unknown> =>
  runRequestSteps(story, atEnd).then(
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
