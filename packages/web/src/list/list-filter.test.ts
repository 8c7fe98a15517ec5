import { aMeta } from '@holdfast/testkit/fixtures'
import { expect, it } from 'vitest'
import { isInList, noFilter } from './list-filter.ts'

it('lists a session that was rewound to its start, and not one that never had a message', () => {
  const isListed = (branchCount: number) => isInList(aMeta({ messageCount: 0, branchCount }), noFilter)
  expect([isListed(0), isListed(1)]).toEqual([false, true])
})
