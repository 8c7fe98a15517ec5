import { type Answer, invariant } from '@holdfast/protocol'
import fc, { type Arbitrary } from 'fast-check'
import { count } from '../../coverage.ts'
import { settlePromises } from '../../scheduler.ts'
import { isAnswer } from '../compare.ts'
import type { CommandTemplate } from '../family/family.ts'
import { aCommand, predictOutcome } from '../family/predict-outcome.ts'
import { type Action, expectState, type Move, move, runSingle, silently } from '../model-run.ts'
import { aWhileMs } from '../real/scripted-agents.ts'
import type { Sender, State } from '../state.ts'
import { afterCrash, withTurn } from '../turn-progress.ts'
import { aSender, bindCommand, isUseful, note } from './send-command.ts'

const savedOf = ({ turn }: State) => turn?.saved ?? ''

/** Kills or pauses the process; another one takes over. */
export const crash = (how: 'killed' | 'paused'): Move =>
  move(`crash('${how}')`, async (modelRun, real) => {
    count(`crash: ${how}`)
    await real.crash(how)
    await expectState(modelRun, real, afterCrash(modelRun.state, savedOf(modelRun.state)), `a crash (${how})`)
  })

/** Unloads the session, which loses nothing. */
export const unload: Move = move('unload', async (modelRun, real) => {
  count('unload')
  await real.unload()
  const { state } = modelRun
  await expectState(modelRun, real, state.isLoaded ? afterCrash(state, state.turn?.streamed ?? '') : state, 'an unload')
})

/** Advances the clock, so that a draft is saved or an idle session is unloaded. */
export const wait = (how: 'a while' | 'long'): Action => ({
  code: `wait('${how}')`,
  bind: (_, real) => ({
    perform: silently(() => real.advance(how === 'long' ? 16 * 60_000 : aWhileMs)),
    steps: [
      (state) => {
        const { turn, attachments, steering, followUps, sideWork } = state
        const saved = withTurn(state, { saved: turn?.streamed ?? '', isPaused: false })
        const isUsed = turn || [attachments, steering, followUps, sideWork].some(({ length }) => length > 0)
        return { says: null, state: how === 'long' && !isUsed ? { ...saved, isLoaded: false } : saved }
      },
    ],
  }),
})

/** Kills the process during a command, before or after it is on disk. The sender gets no answer and retries. */
export const dieOver = (by: Sender, template: CommandTemplate, when: 'before' | 'after'): Move => {
  const code = `dieOver(${by === null ? 'null' : `'${by}'`}, ${template.code}, '${when}')`
  return move(
    code,
    async (modelRun, real) => {
      const { head } = modelRun
      const asked = note(modelRun, by, template, null)
      const { state, says } = predictOutcome(modelRun.state, asked, head + 1)
      const isWritten = says.ok && says.isChange
      if (modelRun.state.sideWork.some(({ kind }) => kind === asked.command.type)) return
      count(`crash over a command: ${isWritten ? when : 'not written'}`)
      const hasDied = real.crashPoint(when)
      let got: Answer | null = null
      real.submit(asked).then((answer) => {
        if (!isAnswer(answer, says)) real.complain(`${asked.command.type} is answered ${JSON.stringify(answer)}`)
        if (answer.ok) got = answer.value
      })
      await settlePromises()
      invariant(hasDied() === isWritten, `${asked.command.type} is ${isWritten ? 'not ' : ''}written`)
      invariant(!isWritten || got === null, 'a killed process answered')

      const first = { seq: head + 1, result: says.ok ? says.result : {}, command: asked.command }
      const known = { ...state, answered: new Map(state.answered).set(asked.id, first) }
      const onDisk = !isWritten ? state : when === 'after' ? known : modelRun.state
      await real.crash('killed')
      await expectState(modelRun, real, afterCrash(onDisk, savedOf(onDisk)), `a crash over ${asked.command.type}`)

      await runSingle({ code: 'the same, sent again', bind: () => bindCommand(asked, modelRun, real) }, modelRun, real)
    },
    { isApt: isUseful(by, template) },
  )
}

export const aLongWait: Arbitrary<Action> = fc.constantFrom<('a while' | 'long')[]>('a while', 'long').map(wait)

/** Retries a paused model call when its time has come. */
export const aWait: Arbitrary<Action> = fc.constant({
  ...wait('a while'),
  isApt: ({ turn }) => turn?.isPaused ?? false,
})

export const aCrashOrUnload: Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(crash('killed'), crash('paused'), unload) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(aSender, aCommand, fc.constantFrom('before' as const, 'after' as const))
      .map(([by, template, when]) => dieOver(by, template, when)),
  },
)
