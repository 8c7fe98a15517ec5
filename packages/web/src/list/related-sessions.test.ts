import { aMeta } from '@holdfast/testkit/fixtures'
import { describe, expect, it } from 'vitest'
import { findRelated, titleOf } from './related-sessions.ts'

const id = (number: number) => `ses_0${String(number).padStart(25, '0')}`
const first = aMeta({ id: id(1), title: 'the first' })
const fork = aMeta({ id: id(2), title: '', handle: 'calm-otter-7', parent: id(1) })

describe('findRelated', () => {
  it('finds the parent', () => {
    expect(findRelated(fork, [fork, first])).toEqual({ parent: { id: id(1), title: 'the first' }, forks: [] })
  })

  it('finds the forks', () => {
    expect(findRelated(first, [fork, first])).toEqual({ parent: null, forks: [{ id: id(2), title: 'New session' }] })
  })

  it('links a parent that is not in the list', () => {
    expect(findRelated(fork, [fork]).parent).toEqual({ id: id(1), title: 'another session' })
  })
})

describe('titleOf', () => {
  it('says why a session with branches has no title: it was rewound to before its first prompt', () => {
    expect([titleOf(first), titleOf(fork), titleOf({ title: '', branchCount: 1 })]).toEqual([
      ...['the first', 'New session', 'Rewound to the start'],
    ])
  })
})
