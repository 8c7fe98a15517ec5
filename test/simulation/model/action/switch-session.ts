import { invariant } from '@holdfast/protocol'
import fc, { type Arbitrary } from 'fast-check'
import { count } from '../../coverage.ts'
import { pickOf } from '../family/family.ts'
import { seenFrom } from '../family/metadata.ts'
import { expectState, type Move, move } from '../model-run.ts'

/** The story goes on in another session: a fork, or the one it was forked from. That one must be as it was left. */
export const switchSession = (pick: number): Move =>
  move(
    `switchSession(${pick})`,
    async (story, real) => {
      const name = pickOf([...story.others.keys()], pick)
      const chapter = name === null ? undefined : story.others.get(name)
      if (name === null || !chapter || story.state.turn || story.state.sideWork.length > 0) return
      const { state, head, sent } = story
      count(chapter.head === null ? 'visit: the first' : 'visit: again')
      if (chapter.state.depth > 1) count('visit: a fork of a fork')
      story.others.delete(name)
      story.others.set(real.session, { state: { ...state, seats: [] }, head, sent })
      real.visit(name)
      story.sent = chapter.sent
      // Whether it sleeps is nobody's business; what the workspace trusts is common to all.
      const found = { ...seenFrom(chapter.state, state), seats: [], isAwake: real.isAwake() }
      await expectState(story, real, found, `a switch to ${name}`)
      invariant(chapter.head === null || chapter.head === story.head, `${name} has changed while nobody was there`)
    },
    { isApt: ({ turn, sideWork }) => turn === null && sideWork.length === 0 },
  )

export const aSwitchSession: Arbitrary<Move> = fc.nat(3).map(switchSession)
