import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { appendTo, mustAppend, mustCreate, newSession, sessionId } from '@holdfast/testkit/contracts'
import { type PostgresServer, startPostgres } from '@holdfast/testkit/postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { connect } from '../../../packages/holdfast/src/store/postgres/connect/connect.ts'
import { parsePostgresUrl } from '../../../packages/holdfast/src/store/postgres/connect/postgres-url.ts'
import { openPostgresStore } from '../../../packages/holdfast/src/store/postgres/postgres-store.ts'
import { checkLogs, startAudit } from './check-logs.ts'

let database: PostgresServer
let home = ''
let number = 0
beforeAll(async () => {
  database = await startPostgres()
  home = mkdtempSync(join(tmpdir(), 'hf-check-'))
})
afterAll(async () => {
  await database.close()
  rmSync(home, { recursive: true, force: true })
})

const marks = () => join(home, 'marks')
const cluster = () => ({ database, schema: `check_${number}` })
const acknowledged = [{ session: sessionId(1), commandId: 'one', seq: 2 }]
const check = (clients: Partial<Parameters<typeof checkLogs>[1]> = {}) =>
  checkLogs(cluster(), { acknowledged, marks: marks(), ...clients })

/** Changes the rows behind the back of the store. */
async function change(sql: string): Promise<void> {
  const { write, close } = await connect(orThrow(parsePostgresUrl(database.url(cluster().schema))))
  await write(sql)
  await close()
}

beforeEach(async () => {
  number += 1
  writeFileSync(marks(), 'a\nb\n')
  const location = orThrow(parsePostgresUrl(`${database.url(cluster().schema)}&durability=unchecked`))
  const { store } = orThrow(await openPostgresStore(location))
  await startAudit(cluster())
  await mustCreate(store, newSession(1))
  for (const after of [1, 2]) await mustAppend(store, appendTo(1, after))
  await store.close()
  await change(`update @record set command_id = 'one' where seq = 2`)
})

describe('the check of all logs', () => {
  it('finds nothing in whole logs', async () => {
    expect(await check()).toEqual([])
  })

  it.each([
    ['a gap', 'delete from @record where seq = 2', 'seq is not dense'],
    ['a lost end', 'delete from @record where seq = 3', 'seq is not dense'],
    ['a command that is lost', 'update @record set command_id = null', 'recorded at []'],
    [
      'a command at another seq',
      `update @record set command_id = null; update @record set command_id = 'one' where seq = 3`,
      'recorded at [3]',
    ],
    [
      'a command twice',
      "drop index @record_command; update @record set command_id = 'one' where seq > 1",
      'recorded at [2,3]',
    ],
    ['two owners', `update @session set owner = 'node-b'`, 'two owners in one epoch'],
    [
      'a call that started twice',
      `update @record set type = 'call.started', ref = 1 where seq > 1`,
      'a call started or settled twice',
    ],
  ])('finds %s', async (_, sql, expected) => {
    await change(sql)
    expect(await check()).toContainEqual(expect.stringContaining(expected))
  })

  it('finds an effect that ran twice', async () => {
    appendFileSync(marks(), 'a\n')
    expect(await check()).toEqual(['a ran twice'])
  })
})
