import { invariant } from '@holdfast/protocol'
import fc, { type Arbitrary } from 'fast-check'
import { count } from '../../coverage.ts'
import { pickOf } from '../family/family.ts'
import { seenFrom } from '../family/metadata.ts'
import { expectState, type Move, move } from '../model-run.ts'

/** Continues the run in another session, a fork or its parent, which must be unchanged. */
export const switchSession = (pick: number): Move =>
  move(
    `switchSession(${pick})`,
    async (modelRun, real) => {
      const name = pickOf([...modelRun.others.keys()], pick)
      const chapter = name === null ? undefined : modelRun.others.get(name)
      if (name === null || !chapter || modelRun.state.turn || modelRun.state.sideWork.length > 0) return
      const { state, head, sent } = modelRun
      count(chapter.head === null ? 'visit: the first' : 'visit: again')
      if (chapter.state.depth > 1) count('visit: a fork of a fork')
      modelRun.others.delete(name)
      modelRun.others.set(real.session, { state: { ...state, attachments: [] }, head, sent })
      real.visit(name)
      modelRun.sent = chapter.sent
      // Whether it is loaded does not matter; workspace trust is shared.
      const found = { ...seenFrom(chapter.state, state), attachments: [], isLoaded: real.isLoaded() }
      await expectState(modelRun, real, found, `a switch to ${name}`)
      invariant(
        chapter.head === null || chapter.head === modelRun.head,
        `${name} has changed while the run was elsewhere`,
      )
    },
    { isApt: ({ turn, sideWork }) => turn === null && sideWork.length === 0 },
  )

export const aSwitchSession: Arbitrary<Move> = fc.nat(3).map(switchSession)
