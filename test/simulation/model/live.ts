import fc from 'fast-check'
import { replay } from '../runs.ts'
import { acting } from './move/agent.ts'
import { summingUp } from './move/asides.ts'
import { asking } from './move/ask.ts'
import { livesAndDeaths, patience, waiting } from './move/lives.ts'
import { comingAndGoing } from './move/presence.ts'
import { visiting } from './move/visit.ts'
import { openReal } from './real/real.ts'
import { alone, beginStory, type Deed, type Move, together } from './story.ts'

const deed = fc.oneof(
  { weight: 10, arbitrary: asking },
  { weight: 10, arbitrary: acting },
  { weight: 4, arbitrary: summingUp },
  { weight: 3, arbitrary: comingAndGoing },
)

const aMove = fc.oneof(
  { weight: 28, arbitrary: deed.map(alone) },
  { weight: 6, arbitrary: fc.tuple(deed, deed).map(([one, other]) => together(one, other)) },
  { weight: 1, arbitrary: livesAndDeaths },
  { weight: 2, arbitrary: visiting },
  { weight: 3, arbitrary: patience.map(alone) },
  { weight: 1, arbitrary: waiting.map(alone) }, // never at once with a deed: no timer falls into what is under way
)

const movesMax = 100

/** Lives through moves that someone wrote down. */
export async function liveBy(moves: readonly (Move | Deed)[]): Promise<void> {
  const real = await openReal()
  const story = await beginStory(real)
  for (const one of moves) await ('run' in one ? one : alone(one)).run(story, real)
}

/** The whole of a seed's story is its number; one that fails is told again, ever shorter, until nothing can be left out. */
export async function liveThroughMoves(seed: number): Promise<void> {
  const commands = fc.commands([aMove], { maxCommands: movesMax, size: 'max' })
  let told: readonly Move[] = []
  const property = fc.asyncProperty(commands, async (moves) => {
    const real = await openReal()
    const model = await beginStory(real)
    await fc
      .asyncModelRun(() => ({ model, real }), moves)
      .catch((cause) => {
        told = model.told // the last to fail is the shortest
        throw cause
      })
  })
  const { failed, errorInstance } = await fc.check(property, { seed, numRuns: 1, unbiased: true })
  if (!failed) return
  const moves = await shorten(told)
  const cause = (await problemOf(moves)) ?? errorInstance
  const problem = cause instanceof Error ? cause.message : String(cause)
  const code = moves.join(',\n  ')
  throw new Error(`${replay(seed, 'session-model')}\n${problem}\nThe shortest story that shows it:\n  ${code}`, {
    cause,
  })
}

const problemOf = (moves: readonly Move[]): Promise<unknown> =>
  liveBy(moves).then(
    () => null,
    (cause: unknown) => cause,
  )

/** Leaves out what can be left out, and lets happen one by one what need not happen at once. */
async function shorten(moves: readonly Move[]): Promise<readonly Move[]> {
  for (const [index, { deeds }] of moves.entries()) {
    const apart = deeds.map(alone)
    for (const instead of [[], ...apart.map((one) => [one]), ...(deeds.length > 1 ? [apart] : [])]) {
      const shorter = moves.toSpliced(index, 1, ...instead)
      if (await problemOf(shorter)) return shorten(shorter)
    }
  }
  return moves
}
