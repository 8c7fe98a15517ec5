import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { done, orThrow } from '@holdfast/protocol'
import { appendTo, newSession } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSqliteStore, type SqliteStore } from '../sqlite-store.ts'
import { createPortWriter } from './port-writer.ts'

let directory = ''
let store: SqliteStore
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-port-'))
  store = orThrow(await openSqliteStore({ path: join(directory, 'store.db') }))
})
afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true, force: true })
})

describe('port writer', () => {
  it('writes beside the thread that opened the store; each gets its own answers', async () => {
    const opened = store.openWriterPort()
    const writer = createPortWriter(opened.given)
    const answers = await Promise.all([writer.create(newSession(1)), store.create(newSession(2))])
    expect(answers).toEqual([done, done])
    expect(await writer.append(appendTo(1, 1))).toMatchObject({ ok: true })
    expect(await writer.append(appendTo(1, 1))).toMatchObject({ ok: false, fault: { code: 'log_moved' } })
    expect((await store.entry(newSession(1).session))?.head).toBe(2)
    writer.close()
    opened.close()
    expect(await store.append(appendTo(2, 1))).toMatchObject({ ok: true })
  })

  it('refuses what was asked and what is asked later when the store closes', async () => {
    const writer = createPortWriter(store.openWriterPort().given)
    await writer.create(newSession(1))
    await store.close()
    expect(await writer.append(appendTo(1, 1))).toMatchObject({ ok: false, fault: { code: 'storage_error' } })
    expect(await writer.create(newSession(2))).toMatchObject({ ok: false, fault: { code: 'storage_error' } })
  })
})
