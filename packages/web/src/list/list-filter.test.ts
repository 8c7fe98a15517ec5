import { fault } from '@holdfast/protocol'
import { aMeta } from '@holdfast/testkit/fixtures'
import { expect, it } from 'vitest'
import { isInList, noFilter, withKnownRows } from './list-filter.ts'

it('lists a session that was rewound to its start, and not one that never had a message', () => {
  const isListed = (branchCount: number) => isInList(aMeta({ messageCount: 0, branchCount }), noFilter)
  expect([isListed(0), isListed(1)]).toEqual([false, true])
})

it('keeps the known sessions that a search fits while the server is away', () => {
  const known = {
    sessions: [aMeta({ title: 'The harbour', messageCount: 1 }), aMeta({ title: 'Tests', messageCount: 1 })],
  }
  const away = { sessions: [], fault: fault('unreachable', 'The server does not respond.') }
  const filter = { ...noFilter, search: 'harb' }
  expect(withKnownRows(away, known, filter).sessions.map(({ title }) => title)).toEqual(['The harbour'])
  expect(withKnownRows({ sessions: [], fault: null }, known, filter).sessions).toEqual([])
})
