import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { prepareStoreFile, readStoreHeader } from '../files/database-file.ts'
import { writeVersion1 } from '../files/version-1.fixture.ts'
import { writeVersion2 } from '../files/version-2.fixture.ts'
import { schemaVersion } from '../rows/schema.ts'
import { checkDatabase } from './check-database.ts'
import { copyDamagedDatabase, replaceDatabase } from './copy-database.ts'

let path = ''
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'holdfast-copy-')), 'holdfast.db')
})
afterEach(() => rmSync(dirname(path), { recursive: true, force: true }))

const pageBytes = 4096

function ask(query: string): readonly unknown[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database.prepare(query).all().map(Object.values)
  } finally {
    database.close()
  }
}

/** Overwrites the only page of a small table. */
function overwriteTable(table: string): void {
  const [root] = ask(`select rootpage from sqlite_schema where name = '${table}'`).flat()
  const bytes = readFileSync(path)
  bytes.fill('Z', (Number(root) - 1) * pageBytes, Number(root) * pageBytes)
  writeFileSync(path, bytes)
}

async function rebuildDatabase(file: string): Promise<void> {
  expect(copyDamagedDatabase(file, `${file}.new-1`)).not.toBeNull()
  await replaceDatabase(file, `${file}.new-1`)
}

it('rebuilds a damaged store of version 2 with the parents of started sessions', async () => {
  writeVersion2(path)
  const records = ask('select pos, sid, seq, crc, body from record')
  overwriteTable('draft')
  expect(checkDatabase(path)).toContainEqual(expect.objectContaining({ code: 'damaged_file', canRepair: true }))

  await rebuildDatabase(path)

  expect(readStoreHeader(path)?.version).toBe(schemaVersion)
  expect(ask('select pos, sid, seq, crc, body from record')).toEqual(records)
  expect(ask('select sid, parent from started_for')).toEqual([[3, 'ses_00000000000000000000000001']])
})

it.each(['session', 'started_for'])(
  'keeps the parents of started sessions if a page of %s is damaged',
  async (table) => {
    writeVersion2(path)
    prepareStoreFile(path)
    const started = ask('select sid, parent from started_for')
    overwriteTable(table)
    await rebuildDatabase(path)
    expect([started.length, ask('select sid, parent from started_for')]).toEqual([1, started])
  },
)

it('does not offer to rebuild a damaged store of version 1, whose rows differ', () => {
  writeVersion1(path)
  overwriteTable('draft')
  expect(checkDatabase(path)).toMatchObject([{ code: 'damaged_file', canRepair: false }])
})
