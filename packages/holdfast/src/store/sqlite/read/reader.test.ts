import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { markBlobsOfVersion1, tables } from '../rows/schema.ts'
import { createSessionRemover } from '../write/remove-sessions.ts'
import { createBlobUseReader } from './reader.ts'

const hash = 'a'.repeat(64)

let database: DatabaseSync
beforeEach(() => {
  database = new DatabaseSync(':memory:')
  database.exec(tables)
  const add = database.prepare(`
    insert into session (id, handle, parent, base, head, workspace, active_at, meta) values (?, ?, ?, ?, ?, '/', 0, '{}')`)
  add.run('parent', 'parent', null, 0, 4)
  add.run('fork', 'fork', 1, 3, 4)
  // As version 1 stored it: a batch of the records 2 to 4, by its last seq.
  database.prepare('insert into blob_use (hash, sid, seq) values (?, 1, 4)').run(hash)
})
afterEach(() => database.close())

const purgeParent = () => createSessionRemover(database).purge('parent', null)

describe('a blob that version 1 stored with the last record of its batch', () => {
  it('is lost for a fork that shares only the beginning of the batch', () => {
    purgeParent()
    expect(createBlobUseReader(database).blobsInUse([hash])).toEqual([])
  })

  it('stays in use after the upgrade to version 2', () => {
    database.exec(markBlobsOfVersion1)
    purgeParent()
    const uses = createBlobUseReader(database)
    expect(uses.blobsInUse([hash])).toEqual([hash])
    expect(uses.refersTo('fork', hash)).toBe(true)
  })
})
