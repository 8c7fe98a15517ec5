import { aMeta } from '@holdfast/testkit/fixtures'
import { describe, expect, it } from 'vitest'
import { kinOf } from './kin.ts'

const id = (place: number) => `ses_0${String(place).padStart(25, '0')}`
const first = aMeta({ id: id(1), title: 'the first' })
const fork = aMeta({ id: id(2), title: '', handle: 'calm-otter-7', parent: id(1) })

describe('the kin of a session', () => {
  it('is where it came from', () => {
    expect(kinOf(fork, [fork, first])).toEqual({ parent: { id: id(1), title: 'the first' }, forks: [] })
  })

  it('is what came from it', () => {
    expect(kinOf(first, [fork, first])).toEqual({ parent: null, forks: [{ id: id(2), title: 'calm-otter-7' }] })
  })

  it('is still linked when the list does not hold it', () => {
    expect(kinOf(fork, [fork]).parent).toEqual({ id: id(1), title: 'another session' })
  })
})
