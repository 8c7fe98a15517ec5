import type { ChildView, PendingApproval } from '@holdfast/protocol'
import { SessionId } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { askedKey, askedOf, joinChildren, splitAsked } from './asked.ts'

const idOf = (letter: string) => SessionId.parse(`ses_01arz3ndektsv4rrffq69g5fa${letter.toLowerCase()}`)
const approval = (id: number) => ({ id }) as PendingApproval
const child = (letter: string, parent: string, asks: readonly number[] = [], more: Partial<ChildView> = {}) =>
  ({ id: idOf(letter), parent: idOf(parent), pendingApprovals: asks.map(approval), ...more }) as ChildView

const children = [child('B', 'A', [1]), child('C', 'B', [1]), child('D', 'A', [1])]

it('asks for the session first, then for its subagents, and tells equal numbers apart', () => {
  const keys = askedOf([approval(1)], children).map(askedKey)
  expect(keys).toEqual([' 1', `${idOf('B')} 1`, `${idOf('C')} 1`, `${idOf('D')} 1`])
})

it('leaves the approvals of an opened subagent and of those below it to its pane', () => {
  const asked = askedOf([approval(1)], children)
  const { inside, outside } = splitAsked(asked, children, idOf('B'))
  expect([inside, outside].map((some) => some.map(({ child }) => child?.id ?? null))).toEqual([
    [idOf('B'), idOf('C')],
    [null, idOf('D')],
  ])
  expect(splitAsked(asked, children, null).outside).toEqual(asked)
})

it('prefers what the stream says to what is stored', () => {
  const stored = [child('B', 'A', [], { status: 'completed' }), child('C', 'A', [], { status: 'running' })]
  const shown = [child('C', 'A', [], { status: 'failed' })]
  expect(joinChildren(stored, shown).map(({ status }) => status)).toEqual(['completed', 'failed'])
})
