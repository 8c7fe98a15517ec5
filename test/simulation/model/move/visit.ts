import { invariant } from '@holdfast/protocol'
import fc, { type Arbitrary } from 'fast-check'
import { count } from '../census.ts'
import { pickOf } from '../family/family.ts'
import { seenFrom } from '../family/keeping.ts'
import { type Move, move, mustBe } from '../story.ts'

/** The story goes on in another session: a fork, or the one it was forked from. That one must be as it was left. */
export const visit = (pick: number): Move =>
  move(
    `visit(${pick})`,
    async (story, real) => {
      const name = pickOf([...story.others.keys()], pick)
      const chapter = name === null ? undefined : story.others.get(name)
      if (name === null || !chapter || story.state.turn || story.state.asides.length > 0) return
      const { state, head, sent } = story
      count(chapter.head === null ? 'visit: the first' : 'visit: again')
      if (chapter.state.depth > 1) count('visit: a fork of a fork')
      story.others.delete(name)
      story.others.set(real.session, { state: { ...state, seats: [] }, head, sent })
      real.visit(name)
      story.sent = chapter.sent
      // Whether it sleeps is nobody's business; what the workspace trusts is common to all.
      const found = { ...seenFrom(chapter.state, state), seats: [], isAwake: real.isAwake() }
      await mustBe(story, real, found, `a visit to ${name}`)
      invariant(chapter.head === null || chapter.head === story.head, `${name} has changed while nobody was there`)
    },
    { isApt: ({ turn, asides }) => turn === null && asides.length === 0 },
  )

export const visiting: Arbitrary<Move> = fc.nat(3).map(visit)
