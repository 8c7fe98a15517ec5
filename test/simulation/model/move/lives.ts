import { type Answer, invariant } from '@holdfast/protocol'
import fc, { type Arbitrary } from 'fast-check'
import { quiet } from '../../turnstile.ts'
import { count } from '../census.ts'
import { isAnswer } from '../compare.ts'
import { survive, withTurn } from '../course.ts'
import type { Wish } from '../family/family.ts'
import { aWish, obey } from '../family/obey.ts'
import { aWhileMs } from '../real/puppets.ts'
import type { Sender, State } from '../state.ts'
import { type Deed, doAlone, type Move, move, mustBe, silently } from '../story.ts'
import { aSender, isUseful, note, sending } from './ask.ts'

const savedOf = ({ turn }: State) => turn?.saved ?? ''

/** The process dies, or is taken for dead and goes on writing; another takes over. */
export const crash = (how: 'killed' | 'paused'): Move =>
  move(`crash('${how}')`, async (story, real) => {
    count(`crash: ${how}`)
    await real.crash(how)
    await mustBe(story, real, survive(story.state, savedOf(story.state)), `a crash (${how})`)
  })

/** The session is taken out of memory, by request: nothing that was said is lost. */
export const unload: Move = move('unload', async (story, real) => {
  count('unload')
  await real.unload()
  const { state } = story
  await mustBe(story, real, state.isAwake ? survive(state, state.turn?.streamed ?? '') : state, 'an unload')
})

/** Time passes: enough for a draft to be saved, or for an idle session to leave memory. */
export const wait = (how: 'a while' | 'long'): Deed => ({
  code: `wait('${how}')`,
  bind: (_, real) => ({
    perform: silently(() => real.advance(how === 'long' ? 16 * 60_000 : aWhileMs)),
    steps: [
      (state) => {
        const { turn, seats, steering, followUps, asides } = state
        const saved = withTurn(state, { saved: turn?.streamed ?? '', isPaused: false })
        const isUsed = turn || [seats, steering, followUps, asides].some(({ length }) => length > 0)
        return { says: null, state: how === 'long' && !isUsed ? { ...saved, isAwake: false } : saved }
      },
    ],
  }),
})

/** The process dies over a command, before or after it is on disk; whoever sent it hears nothing, and sends it again. */
export const dieOver = (by: Sender, wish: Wish, when: 'before' | 'after'): Move => {
  const code = `dieOver(${by === null ? 'null' : `'${by}'`}, ${wish.code}, '${when}')`
  return move(
    code,
    async (story, real) => {
      const { head } = story
      const asked = note(story, by, wish, null)
      const { state, says } = obey(story.state, asked, head + 1)
      const isWritten = says.ok && says.isChange
      if (story.state.asides.some(({ kind }) => kind === asked.command.type)) return
      count(`crash over a command: ${isWritten ? when : 'not written'}`)
      const hasDied = real.doom(when)
      let got: Answer | null = null
      real.submit(asked).then((answer) => {
        if (!isAnswer(answer, says)) real.complain(`${asked.command.type} is answered ${JSON.stringify(answer)}`)
        if (answer.ok) got = answer.value
      })
      await quiet()
      invariant(hasDied() === isWritten, `${asked.command.type} is ${isWritten ? 'not ' : ''}written`)
      invariant(!isWritten || got === null, 'the dead answer')

      const first: Answer = { seq: head + 1, result: says.ok ? says.result : {} }
      const known = { ...state, answered: new Map(state.answered).set(asked.id, first) }
      const onDisk = !isWritten ? state : when === 'after' ? known : story.state
      await real.crash('killed')
      await mustBe(story, real, survive(onDisk, savedOf(onDisk)), `a crash over ${asked.command.type}`)

      await doAlone({ code: 'the same, sent again', bind: () => sending(asked, story, real) }, story, real)
    },
    { isApt: isUseful(by, wish) },
  )
}

export const waiting: Arbitrary<Deed> = fc.constantFrom<('a while' | 'long')[]>('a while', 'long').map(wait)

/** Whoever is to be asked again is, when it is time. */
export const patience: Arbitrary<Deed> = fc.constant({
  ...wait('a while'),
  isApt: ({ turn }) => turn?.isPaused ?? false,
})

export const livesAndDeaths: Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(crash('killed'), crash('paused'), unload) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(aSender, aWish, fc.constantFrom('before' as const, 'after' as const))
      .map(([by, wish, when]) => dieOver(by, wish, when)),
  },
)
