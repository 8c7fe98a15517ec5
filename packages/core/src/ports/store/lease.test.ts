import { aMeta } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { busyOwners, ownedStatus } from './lease.ts'

const meta = aMeta({ status: 'thinking' })
const rows = [
  { meta, busy: true, owner: 'alive' },
  { meta, busy: true, owner: 'dead' },
  { meta, busy: true, owner: null },
  { meta, busy: false, owner: 'dead' },
]

describe('a list', () => {
  it('shows busy sessions with a dead owner as interrupted', () => {
    const statuses = ownedStatus(rows, new Set(['alive'])).map(({ status }) => status)
    expect(statuses).toEqual(['thinking', 'interrupted', 'interrupted', 'thinking'])
  })

  it('depends only on the owners of busy sessions', () => {
    expect(busyOwners(rows)).toEqual(new Set(['alive', 'dead']))
  })
})
