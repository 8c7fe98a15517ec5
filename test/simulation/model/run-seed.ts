import { errorMessage } from '@holdfast/protocol'
import fc from 'fast-check'
import { replay } from '../runs.ts'
import { anAgentAction } from './action/agent.ts'
import { anAttachOrDetach } from './action/attach.ts'
import { aCrashOrUnload, aLongWait, aWait } from './action/crash.ts'
import { aSendCommand } from './action/send-command.ts'
import { aSummaryAction } from './action/summaries.ts'
import { aSwitchSession } from './action/switch-session.ts'
import { type Action, concurrently, type Move, single, startModelRun } from './model-run.ts'
import { openRealSession } from './real/real-session.ts'

const action = fc.oneof(
  { weight: 10, arbitrary: aSendCommand },
  { weight: 10, arbitrary: anAgentAction },
  { weight: 4, arbitrary: aSummaryAction },
  { weight: 3, arbitrary: anAttachOrDetach },
)

const aMove = fc.oneof(
  { weight: 28, arbitrary: action.map(single) },
  { weight: 6, arbitrary: fc.tuple(action, action).map(([one, other]) => concurrently(one, other)) },
  { weight: 1, arbitrary: aCrashOrUnload },
  { weight: 2, arbitrary: aSwitchSession },
  { weight: 3, arbitrary: aWait.map(single) },
  { weight: 1, arbitrary: aLongWait.map(single) }, // never concurrent with an action, because timers would interrupt it
)

const movesMax = 100

/** Runs recorded moves. */
export async function runMoves(moves: readonly (Move | Action)[]): Promise<void> {
  const real = await openRealSession()
  const modelRun = await startModelRun(real)
  for (const one of moves) await ('run' in one ? one : single(one)).run(modelRun, real)
}

/** Runs the moves of a seed. A failing run is shortened until no move can be left out. */
export async function runSessionModelSeed(seed: number): Promise<void> {
  const commands = fc.commands([aMove], { maxCommands: movesMax, size: 'max' })
  let failing: readonly Move[] = []
  const property = fc.asyncProperty(commands, async (moves) => {
    const real = await openRealSession()
    const model = await startModelRun(real)
    await fc
      .asyncModelRun(() => ({ model, real }), moves)
      .catch((cause) => {
        failing = model.done // the last failing run is the shortest
        throw cause
      })
  })
  const { failed, errorInstance } = await fc.check(property, { seed, numRuns: 1, unbiased: true })
  if (!failed) return
  const moves = await shorten(failing)
  const cause = (await problemOf(moves)) ?? errorInstance
  const problem = errorMessage(cause)
  const code = moves.join(',\n  ')
  throw new Error(`${replay(seed, 'session-model')}\n${problem}\nThe shortest run that fails:\n  ${code}`, {
    cause,
  })
}

const problemOf = (moves: readonly Move[]): Promise<unknown> =>
  runMoves(moves).then(
    () => null,
    (cause: unknown) => cause,
  )

/** Removes moves that are not needed, and splits concurrent actions where possible. */
async function shorten(moves: readonly Move[]): Promise<readonly Move[]> {
  for (const [index, { actions }] of moves.entries()) {
    const apart = actions.map(single)
    for (const instead of [[], ...apart.map((one) => [one]), ...(actions.length > 1 ? [apart] : [])]) {
      const shorter = moves.toSpliced(index, 1, ...instead)
      if (await problemOf(shorter)) return shorten(shorter)
    }
  }
  return moves
}
