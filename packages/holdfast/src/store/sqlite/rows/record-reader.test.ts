import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ReadRange } from '@holdfast/core/ports'
import { messageEvents, orThrow, TurnNumber } from '@holdfast/protocol'
import {
  appendTo,
  mustAppend,
  mustCreate,
  newSession,
  recordAt,
  sessionId,
  textSaid,
  textsAfter,
} from '@holdfast/testkit/contracts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqliteStore, type SqliteStore } from '../sqlite-store.ts'
import { createRecordReader } from './record-reader.ts'

/** More records than one fetch returns. */
const head = 1300
/** Missing rows at the beginning, in the middle and at the end of a fetch. */
const gone = new Set([1, 2, 15, 16, 17, 32, 511, 512, 513, 514, 700, 1024, 1025, head - 1, head])
const middle = 400

let directory = ''
let store: SqliteStore
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-reader-'))
  const path = join(directory, 'holdfast.db')
  store = orThrow(await openSqliteStore({ path }))
  await mustCreate(store, newSession(1))
  const texts = Array.from({ length: head - 1 }, (_, index) => `text ${index}`)
  await mustAppend(store, appendTo(1, 1, { records: textsAfter(1, ...texts) }))
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false, timeout: 10_000 }) // the index is still written
  database.exec(`delete from record where seq in (${[...gone].join(', ')})`)
  database.close()
})
afterAll(async () => {
  await store.close()
  rmSync(directory, { recursive: true, force: true })
})

const seqs = async (range: ReadRange) =>
  (await store.read(sessionId(1), range)).map((record) => [record.seq, 'lost' in record])

describe.each([false, true])('reading records, newest first: %s', (newestFirst) => {
  const all = Array.from({ length: head }, (_, index) => index + 1)
  const inOrder = newestFirst ? all.toReversed() : all

  it.each([1, 15, 16, 17, 100, 513, 2000])(
    'returns each seq of a page of %i, including missing rows',
    async (limit) => {
      const expected = inOrder.slice(0, limit).map((seq) => [seq, gone.has(seq)])
      expect(await seqs({ after: 0, limit, newestFirst })).toEqual(expected)
    },
  )

  it.each([1, 5, 100])('returns up to %i lost records for a type that no record has', async (limit) => {
    const lost = inOrder.filter((seq) => gone.has(seq)).slice(0, limit)
    const found = await seqs({ after: 0, limit, newestFirst, types: ['turn.ended'] })
    expect(found).toEqual(lost.map((seq) => [seq, true]))
  })

  it('returns only the requested seqs', async () => {
    const expected = inOrder.filter((seq) => seq > middle && seq <= 1025).map((seq) => [seq, gone.has(seq)])
    expect(await seqs({ after: middle, upTo: 1025, limit: 5000, newestFirst })).toEqual(expected)
  })
})

it('leaves a short compressed body to the thread that asked, with its length counted, and decompresses a long one', async () => {
  await mustCreate(store, newSession(3))
  const texts = ['brief', 'same '.repeat(800), 'same '.repeat(40_000), 'last']
  await mustAppend(store, appendTo(3, 1, { records: textsAfter(1, ...texts) }))
  using database = new DatabaseSync(join(directory, 'holdfast.db'), { readOnly: true })
  const parts = (charsMax?: number) =>
    createRecordReader(database)
      .read(sessionId(3), { after: 1, limit: 9, charsMax })
      .map((part) => (typeof part === 'object' ? [part.lines.length > 0, part.compressedLengths.length] : typeof part))
  expect(parts()).toEqual([[true, 1], 'string', [true, 0]])
  expect(parts(4000)).toEqual([[true, 1]])
})

describe('reading messages', () => {
  const turns = 300
  /** Each turn has three records, the first of them after the start of the session. */
  const atTurn = (turn: number) => ({ started: 3 * turn + 2, text: 3 * turn + 3, ended: 3 * turn + 4 })

  beforeAll(async () => {
    await mustCreate(store, newSession(6))
    const records = Array.from({ length: turns }, (_, count) => {
      const { started, text, ended } = atTurn(count)
      const turn = TurnNumber.parse(count)
      return [
        recordAt(started, { type: 'turn.started', turn, cause: 'prompt' }),
        recordAt(text, textSaid(`text ${count}`)),
        recordAt(ended, { type: 'turn.ended', turn, reason: 'done' }),
      ]
    })
    await mustAppend(store, appendTo(6, 1, { records: records.flat() }))
  })
  const damage = (sql: string) => {
    using database = new DatabaseSync(join(directory, 'holdfast.db'), { timeout: 10_000 })
    const sid = `sid = (select sid from session where id = '${sessionId(6)}')`
    expect(database.prepare(`${sql} and ${sid}`).run().changes).toBe(1)
  }
  const read = async (range: Partial<ReadRange> = {}) => {
    const page = await store.read(sessionId(6), { after: 1, limit: 5000, types: messageEvents, ...range })
    return { seqs: page.map(({ seq }) => seq), lost: page.flatMap((record) => ('lost' in record ? [record.seq] : [])) }
  }
  const texts = Array.from({ length: turns }, (_, turn) => atTurn(turn).text)

  it.each([false, true])('returns each message of a page in order, newest first: %s', async (newestFirst) => {
    const inOrder = newestFirst ? texts.toReversed() : texts
    expect(await read({ newestFirst })).toEqual({ seqs: inOrder, lost: [] })
    expect(await read({ newestFirst, limit: 17 })).toEqual({ seqs: inOrder.slice(0, 17), lost: [] })
    const inside = { after: atTurn(40).started, upTo: atTurn(250).text }
    expect((await read({ newestFirst, ...inside })).seqs).toEqual(
      inOrder.filter((seq) => seq > inside.after && seq <= inside.upTo),
    )
  })

  it('reports what may have been a message, and not the damaged end of a turn', async () => {
    damage(`update record set body = replace(body, 'done', 'dono') where seq = ${atTurn(1).ended}`)
    expect((await read()).lost).toEqual([])
    damage(`update record set body = replace(body, 'text 2', 'text 3') where seq = ${atTurn(2).text}`)
    damage(`update record set type = 'turn.endee' where seq = ${atTurn(70).ended}`)
    damage(`delete from record where seq = ${atTurn(200).started}`)
    const lost = [atTurn(2).text, atTurn(70).ended, atTurn(200).started]
    expect((await read()).lost).toEqual(lost)
    expect((await read({ newestFirst: true })).seqs).toEqual((await read()).seqs.toReversed())
    const all = await store.read(sessionId(6), { after: 1, limit: 5000 })
    expect(all.flatMap((record) => ('lost' in record ? [record.seq] : []))).toEqual([atTurn(1).ended, ...lost])
  })
})

it('finds each damaged body among those that are decompressed together', async () => {
  await mustCreate(store, newSession(5))
  const texts = Array.from({ length: 12 }, (_, index) => `${index} and the same words `.repeat(150))
  await mustAppend(store, appendTo(5, 1, { records: textsAfter(1, ...texts) }))
  using database = new DatabaseSync(join(directory, 'holdfast.db'), { timeout: 10_000 })
  const sid = `sid = (select sid from session where id = '${sessionId(5)}')`
  const damage = (seq: number, body: string) =>
    database.exec(`update record set body = cast(${body} as blob) where ${sid} and seq = ${seq}`)
  damage(4, "substr(body, 1, 20) || x'00ff' || substr(body, 23)")
  damage(7, 'substr(body, 1, 30)')
  damage(9, `(select body from record where ${sid} and seq = 10)`)
  const page = await store.read(sessionId(5), { after: 1, limit: 99 })
  expect(page.flatMap((record) => ('lost' in record ? [record.seq] : []))).toEqual([4, 7, 9])
  expect(page.flatMap((record) => ('lost' in record || !('text' in record.event) ? [] : [record.event.text]))).toEqual(
    texts.filter((_, index) => ![4, 7, 9].includes(index + 2)),
  )
})

it('reads long bodies, compressed or not, as they were written', async () => {
  await mustCreate(store, newSession(2))
  const random = Buffer.alloc(60_000, 0).map((_, index) => (index * 7919 + (index >> 3) * 104_729) % 251)
  const texts = ['short', Buffer.from(random).toString('base64'), 'same '.repeat(40_000), 'é€😀'.repeat(30_000), 'last']
  await mustAppend(store, appendTo(2, 1, { records: textsAfter(1, ...texts) }))
  const page = await store.read(sessionId(2), { after: 1, limit: 9 })
  expect(page.map((record) => ('lost' in record || !('text' in record.event) ? null : record.event.text))).toEqual(
    texts,
  )
})
