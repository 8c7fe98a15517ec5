import { existsSync } from 'node:fs'
import type {
  CatalogueRow,
  ListPage,
  ListRequest,
  NodeRow,
  ReadRange,
  ReadRecord,
  SearchRequest,
  SessionName,
  StoredSnapshot,
} from '@holdfast/core/ports'
import type { Seq, SessionId } from '@holdfast/protocol'
import { ok, type Result } from '@holdfast/protocol/result'
import type { RankedPage } from '../../search/ranked-page.ts'
import { listedOf, recordOf, rowOf } from '../rows/decode.ts'
import { createReader } from './reader.ts'

/** The reading half of a store, at once and on this thread: for commands that look and exit. */
export interface SqliteReader {
  list(request: ListRequest): Result<ListPage>
  find(name: SessionName): Result<readonly SessionId[]>
  entry(session: SessionId): Result<CatalogueRow | null>
  search(request: SearchRequest): Result<RankedPage>
  nodes(): Result<readonly NodeRow[]>
  read(session: SessionId, range: ReadRange): Result<readonly ReadRecord[]>
  readRefs(session: SessionId, calls: readonly Seq[]): Result<readonly ReadRecord[]>
  loadSnapshot(session: SessionId, fold: number): Result<StoredSnapshot | null>
  close(): void
}

/**
 * Opens a store to read, without a worker and without what writing needs. Null when there is no store yet: nothing is
 * made. Refused: not_a_store, store_too_new, storage_error.
 */
export function openSqliteReader(path: string): Result<SqliteReader | null> {
  if (!existsSync(path)) return ok(null)
  const reader = createReader(path)
  const opened = reader.run<'open'>({ op: 'open' })
  if (!opened.ok) {
    reader.close()
    return opened
  }
  const value: SqliteReader = {
    list: (request) =>
      mapped(reader.run<'list'>({ op: 'list', request }), ({ sessions, next }) => ({
        sessions: sessions.map(listedOf),
        next,
      })),
    find: (name) => reader.run<'find'>({ op: 'find', name }),
    entry: (session) =>
      mapped(reader.run<'entry'>({ op: 'entry', session }), (row) => (row === null ? null : rowOf(row))),
    search: (request) => reader.run<'search'>({ op: 'search', request }),
    nodes: () => reader.run<'nodes'>({ op: 'nodes' }),
    read: (session, range) => mapped(reader.run<'read'>({ op: 'read', session, range }), (page) => page.map(recordOf)),
    readRefs: (session, calls) =>
      mapped(reader.run<'readRefs'>({ op: 'readRefs', session, calls }), (page) => page.map(recordOf)),
    loadSnapshot: (session, fold) => reader.run<'loadSnapshot'>({ op: 'loadSnapshot', session, fold }),
    close: reader.close,
  }
  return ok(value)
}

const mapped = <From, To>(result: Result<From>, map: (value: From) => To): Result<To> =>
  result.ok ? ok(map(result.value)) : result
