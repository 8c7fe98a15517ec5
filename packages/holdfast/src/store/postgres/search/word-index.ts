import { setTimeout as wait } from 'node:timers/promises'
import type { OnProblem } from '@holdfast/core/ports'
import { HoldfastError } from '@holdfast/protocol/fault'
import { roleOf } from '../../search/searched-event.ts'
import type { Database, SqlRow } from '../connect/connect.ts'
import { decodeIndexedEvent, findTools } from './indexed-event.ts'
import { indexedWords } from './indexed-words.ts'

const pageRecords = 128
/** Appends do not wait for the index: it begins so long after them. */
const pauseMs = 100
/** Between two pages; longer while appends arrive, so that they go first, but not for many pages: a search reads few others. */
const [pagePauseMs, busyPauseMs] = [25, 100]
const busyPagesMax = 8
const failurePauseMs = 5000

// The positions come first, and each record by its own: a join of both tables may read all older records to reach the first.
export const selectUnindexed = `
  with waiting as materialized (select pos from @unindexed order by pos limit ${pageRecords} for update skip locked)
  select pos, record.sid, seq, at, type, body from waiting cross join lateral (
    select sid, seq, at, type, body from @record where record.pos = waiting.pos offset 0) record order by pos`
// The rows stay locked until they are taken out of the queue, so that each node indexes others.
const insertWords = `
  with taken as (delete from @unindexed where pos = any($1) returning pos)
  insert into @search (pos, sid, seq, at_ms, role, tool, words)
    select (r->>0)::bigint, (r->>1)::bigint, (r->>2)::bigint, (r->>3)::bigint, r->>4, r->>5,
      array_to_tsvector(array(select jsonb_array_elements_text(r->6)))
    from jsonb_array_elements($2::jsonb) r where (r->>0)::bigint in (select pos from taken)
  on conflict (pos) do nothing`

/** Indexes the words of the log in the background. Every node does, so the records of one that died are indexed too. */
export function createWordIndex(database: Database, onProblem: OnProblem) {
  let timer: NodeJS.Timeout | null = null
  let running: Promise<void> | null = null
  let isClosed = false
  let isWoken = false

  async function run(): Promise<void> {
    let againMs: number | null = null
    try {
      let pages = 0
      while (!isClosed && (await indexPage(database)) === pageRecords) {
        pages += 1
        const isBusy = isWoken && pages <= busyPagesMax
        isWoken = false // the next page has what came until now
        await wait(isBusy ? busyPauseMs : pagePauseMs)
      }
    } catch (error) {
      // It runs in a timer: nobody else would hear of a bug.
      if (!(error instanceof HoldfastError)) onProblem({ where: 'indexing words', cause: error })
      againMs = failurePauseMs // a search reads what is not indexed; the database reports its failure to the next command
    }
    running = null
    if (isWoken || againMs !== null) plan(againMs ?? pauseMs)
    isWoken = false
  }

  function plan(inMs: number): void {
    if (isClosed || timer !== null) return
    timer = setTimeout(() => {
      timer = null
      running = run()
    }, inMs)
    timer.unref()
  }

  return {
    /** Reports a possible write. */
    wake(): void {
      if (running === null) plan(pauseMs)
      else isWoken = true
    },
    async close(): Promise<void> {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      await running
    },
  }
}

/** Indexes some records that no other node is indexing, and returns how many there were. */
export function indexPage(database: Database): Promise<number> {
  return database.transaction(async (sql) => {
    const rows = await sql(selectUnindexed)
    if (rows.length === 0) return 0
    const decoded = rows.flatMap((row) => {
      const found = decodeIndexedEvent(row['body'])
      return found === null ? [] : [{ row, ...found }]
    })
    const tools = await findTools(sql, decoded)
    const indexed = decoded.flatMap(({ row, text }, index) => toIndexed(row, text, tools[index] ?? null))
    await sql(insertWords, [rows.map(({ pos }) => pos), JSON.stringify(indexed)])
    return rows.length
  })
}

function toIndexed(row: SqlRow, text: string, tool: string | null): readonly unknown[] {
  const [role, words] = [roleOf(String(row['type'])), indexedWords(text)]
  if (role === null || words.length === 0) return []
  return [[row['pos'], row['sid'], row['seq'], Date.parse(String(row['at'])), role, tool, words]]
}
