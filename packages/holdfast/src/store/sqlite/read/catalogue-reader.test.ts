import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tables } from '../rows/schema.ts'
import { latestStatement, listStatements } from './catalogue-reader.ts'

let database: DatabaseSync
beforeEach(() => {
  database = new DatabaseSync(':memory:')
  database.exec(tables)
})
afterEach(() => database.close())

/** Returns the query plan, one step per line. */
const planOf = (sql: string): string =>
  database
    .prepare(`explain query plan ${sql}`)
    .all(...Array.from(sql.matchAll(/\?/g), () => 1))
    .map((row) => String(row['detail']))
    .join('\n')

describe('a page of the list', () => {
  it.each([
    ['everywhere', 'session_all (pinned=? AND active_at>? AND active_at<?)'],
    ['inWorkspace', 'session_list (workspace=? AND pinned=? AND active_at>? AND active_at<?)'],
    ['inTrash', 'session_trash (trashed_at>? AND trashed_at<?)'],
    ['waiting', 'session_waiting ((pinned,active_at)<(?,?))'],
  ] as const)('%s reads an index in order, without sorting', (name, index) => {
    const plan = planOf(listStatements[name])
    expect(plan).toContain(`USING INDEX ${index}`)
    expect(plan).not.toMatch(/TEMP B-TREE|SCAN/)
  })

  it('of running sessions reads only the sessions of these owners', () => {
    const plan = planOf(listStatements.running)
    expect(plan).toContain('USING INDEX session_busy (owner=?)')
    expect(plan).not.toContain('SCAN session')
  })

  it.each(['startedFor', 'startedForInTrash'] as const)(
    '%s reads only the sessions that were started for it',
    (name) => {
      const plan = planOf(listStatements[name])
      expect(plan).toContain('USING COVERING INDEX started_for_parent (parent=?)')
      expect(plan).toContain('USING INTEGER PRIMARY KEY (rowid=?)')
      expect(plan).not.toContain('SCAN')
    },
  )

  it('finds the latest session of a workspace with one row of each half', () => {
    const plan = planOf(latestStatement)
    expect(plan.match(/USING INDEX session_list \(workspace=\? AND pinned=\?\)/g)).toHaveLength(2)
    expect(plan).not.toContain('SCAN session')
  })
})

describe('the blob uses of a session', () => {
  it('are found without reading those of other sessions', () => {
    expect(planOf('delete from blob_use where sid = ? and seq > ?')).toContain('blob_use_session (sid=? AND seq>?)')
    expect(planOf('select distinct hash from blob_use where sid = ? and seq > ?')).toContain('blob_use_session (sid=?')
  })
})
