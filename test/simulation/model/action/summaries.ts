import fc, { type Arbitrary } from 'fast-check'
import { unwritten, written } from '../family/context.ts'
import { pickOf } from '../family/family.ts'
import type { Action } from '../model-run.ts'
import { isWanted, purposeOf } from '../real/scripted-agents.ts'
import type { Outcome, SideWork, State } from '../state.ts'

type Then = (state: State, work: SideWork) => Outcome

/** Ends a summary. One that is no longer awaited has no effect. */
const byWriter = (code: string, pick: number, ending: { readonly text: string } | 'failure', then: Then): Action => ({
  code,
  isApt: ({ sideWork }) => sideWork.length > 0,
  bind: (modelRun, { scriptedAgents }) => {
    const work = pickOf(modelRun.state.sideWork, pick)
    const one = scriptedAgents.answering.find((held) => isWanted(held) && purposeOf(held) === work?.kind)
    const hope = work && modelRun.waiting.get(work.ticket)
    if (!work || !one || !hope) return null
    return {
      sends: `${work.kind}, ${ending === 'failure' ? 'failed' : 'written'}`,
      rival: `the end of ${work.kind}`,
      perform: () => {
        modelRun.waiting.delete(work.ticket)
        one.end(ending === 'failure' ? ending : { ...ending, uses: [] })
        return hope
      },
      steps: [
        (state, got) => {
          const isAwaited = state.sideWork.some(({ ticket }) => ticket === work.ticket)
          const rest = { ...state, sideWork: state.sideWork.filter(({ ticket }) => ticket !== work.ticket) }
          const { state: after, says } = isAwaited ? then(rest, work) : unwritten(rest)
          const sent = modelRun.commands.get(work.ticket)
          const isAdmitted = says.ok && got?.ok && sent !== undefined
          return {
            says,
            state: isAdmitted
              ? {
                  ...after,
                  answered: new Map(after.answered).set(sent, { ...got.value, command: { type: work.kind } }),
                }
              : after,
          }
        },
      ],
    }
  },
})

export const sumUp = (pick: number, text: string): Action =>
  byWriter(`sumUp(${pick}, '${text}')`, pick, { text }, (state, work) =>
    text === '' ? unwritten(state) : written(state, work, text),
  )
export const failToSumUp = (pick: number): Action => byWriter(`failToSumUp(${pick})`, pick, 'failure', unwritten)

export const aSummaryAction: Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.nat(1), fc.constantFrom('in sum', 'all in all', ''))
      .map(([pick, text]) => sumUp(pick, text)),
  },
  { weight: 1, arbitrary: fc.nat(1).map(failToSumUp) },
)
