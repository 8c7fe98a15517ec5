import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keepBlobsOfVersion1, tables } from '../rows/schema.ts'
import { createPurge } from '../write/purge.ts'
import { createBlobUseReader } from './blob-use-reader.ts'

const hash = 'a'.repeat(64)

let database: DatabaseSync
beforeEach(() => {
  database = new DatabaseSync(':memory:')
  database.exec(tables)
  const add = database.prepare(`
    insert into session (id, handle, parent, base, head, workspace, active_at, meta) values (?, ?, ?, ?, ?, '/', 0, '{}')`)
  add.run('parent', 'parent', null, 0, 4)
  add.run('fork', 'fork', 1, 3, 4)
  // As version 1 wrote it: a batch of the records 2 to 4, known by its last.
  database.prepare('insert into blob_use (hash, sid, seq) values (?, 1, 4)').run(hash)
})
afterEach(() => database.close())

const purgeParent = () => createPurge(database, () => undefined).purge({ session: 'parent', trashedAt: null })

describe('a blob that version 1 knew by the last record of its batch', () => {
  it('would be lost to a fork that shares only the beginning of the batch', () => {
    purgeParent()
    expect(createBlobUseReader(database).inUse([hash])).toEqual([])
  })

  it('stays in use once it was brought to version 2', () => {
    database.exec(keepBlobsOfVersion1)
    purgeParent()
    const uses = createBlobUseReader(database)
    expect(uses.inUse([hash])).toEqual([hash])
    expect(uses.refersTo('fork', hash)).toBe(true)
  })
})
