import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Store } from '@holdfast/core/ports'
import { CallId, ClientId, CommandId } from '@holdfast/protocol'
import { mustCreate, newSession, readAll, recordAt, seqsOf, sessionId, textSaid } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteStore } from '../sqlite-store.ts'

let home = ''
let store: Store
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'holdfast-crc-'))
  const opened = await openSqliteStore({ path: join(home, 'holdfast.db') })
  if (!opened.ok) throw new Error(opened.fault.message)
  store = opened.value
  const named = { by: ClientId.parse('tui'), commandId: CommandId.parse('cmd-a') }
  const call = { type: 'call.started', call: CallId.parse(1) } as const
  const records = [recordAt(1, textSaid('one')), recordAt(2, call, named), recordAt(3, textSaid('three'))]
  await mustCreate(store, newSession(1, { records }))
})
afterEach(async () => {
  await store.close()
  rmSync(home, { recursive: true, force: true })
})

/** Changes stored bytes without the store, like a bad disk. */
function damage(sql: string): void {
  const database = new DatabaseSync(join(home, 'holdfast.db'), { timeout: 5000 })
  expect(database.prepare(sql).run().changes).toBe(1)
  database.close()
}

describe('a damaged record', () => {
  it.each([
    ['body', `update record set body = replace(body, 'call.started', 'call.startee') where seq = 2`],
    ['body, with the separator of lines', 'update record set body = body || char(30) || body where seq = 2'],
    ['body, with a NUL', 'update record set body = char(0) || body where seq = 2'],
    ['body, empty', `update record set body = '' where seq = 2`],
    ['at, with line breaks', 'update record set at = at || char(10) || at where seq = 2'],
    ['at', `update record set at = replace(at, '2026', '2027') where seq = 2`],
    ['type', `update record set type = 'call.startdd' where seq = 2`],
    ['version', 'update record set v = 3 where seq = 2'],
    ['client', `update record set client = 'tuj' where seq = 2`],
    ['client, removed', 'update record set client = null where seq = 2'],
    ['command id', `update record set command_id = 'cmd-b' where seq = 2`],
    ['ref', 'update record set ref = 3 where seq = 2'],
    ['checksum', 'update record set crc = crc + 1 where seq = 2'],
    ['row, removed', 'delete from record where seq = 2'],
  ])('reads as lost at its seq: %s', async (_, sql) => {
    expect((await readAll(store, 1)).filter((record) => 'lost' in record)).toEqual([])
    damage(sql)
    const records = await readAll(store, 1)
    expect(seqsOf(records)).toEqual([1, 2, 3])
    expect(records[1]).toEqual({ seq: 2, lost: true })
    expect(records.filter((record) => 'lost' in record).length).toBe(1)
  })

  it('reads as lost in another session', async () => {
    await mustCreate(store, newSession(2, { records: [recordAt(1, textSaid('other'))] }))
    damage(`update record set body = (select body from record where seq = 3),
      crc = (select crc from record where seq = 3) where sid = 2`)
    expect(await readAll(store, 2)).toEqual([{ seq: 1, lost: true }])
  })

  it('reads as lost at the end, where only the head shows it', async () => {
    damage('delete from record where seq = 3')
    expect((await readAll(store, 1)).at(-1)).toEqual({ seq: 3, lost: true })
    const newest = await store.read(sessionId(1), { after: 0, limit: 1, newestFirst: true })
    expect(newest).toEqual([{ seq: 3, lost: true }])
  })

  it('is returned whatever type is requested', async () => {
    damage(`update record set body = '{}' where seq = 2`)
    const page = await store.read(sessionId(1), { after: 0, limit: 9, types: ['text.said'] })
    expect(page.map((record) => ('lost' in record ? 'lost' : record.seq))).toEqual([1, 'lost', 3])
  })

  it('is a fault in a search for its command', async () => {
    damage(`update record set body = '{}' where seq = 2`)
    await expect(store.findCommand(sessionId(1), CommandId.parse('cmd-a'))).rejects.toMatchObject({
      code: 'log_damaged',
    })
  })
})

describe('a damaged snapshot', () => {
  it.each([
    ['cut short', 'update snapshot set body = substr(body, 1, 5)'],
    ['changed', `update snapshot set body = replace(body, 'exec', 'plan')`],
    ['of another seq', 'update snapshot set seq = 2'],
  ])('(%s) is ignored', async (_, sql) => {
    const snapshot = { seq: 3, fold: 7, body: '{"mode":"exec"}' }
    await store.saveSnapshot(sessionId(1), snapshot)
    expect(await store.loadSnapshot(sessionId(1), 7)).toEqual(snapshot)
    damage(sql)
    expect(await store.loadSnapshot(sessionId(1), 7)).toBeNull()
  })
})
