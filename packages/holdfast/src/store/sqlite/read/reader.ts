import { existsSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { NodeRow, StoredToken } from '@holdfast/core/ports'
import type { BlobHash } from '@holdfast/protocol'
import { HoldfastError } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { snapshotChecksum } from '../../snapshot-checksum.ts'
import { faultOf, isStorageFailure, storageFault } from '../../storage-fault.ts'
import { whileBusy } from '../files/busy-retry.ts'
import { findFileFault, findSavedCopy, openForReading } from '../files/database-file.ts'
import { type FileIdentity, type OpenedFiles, rememberFiles } from '../files/held-files.ts'
import { createRecordReader } from '../rows/record-reader.ts'
import { type Question, type ReadRequests, runCall } from '../rows/requests.ts'
import { isIndexDamage, searchIndexFault } from '../search/index-tables.ts'
import { createSearchReader } from '../search/search-reader.ts'
import { createCatalogueReader } from './catalogue-reader.ts'
import { createFollowReader } from './follow-reader.ts'
import { createSpendingReader } from './spending-reader.ts'

export interface Reader {
  ask<Name extends keyof ReadRequests>(
    name: Name,
    ...args: Parameters<ReadRequests[Name]>
  ): Result<ReturnType<ReadRequests[Name]>>
  /** The same for a question that crossed threads. */
  answer(question: Question): Result<unknown>
  close(): void
}

/**
 * Answers questions about a store from one read-only connection. Synchronous: for a worker, or a command that only reads. It
 * opens no other file than that of `identity`.
 */
export function createReader(path: string, identity?: FileIdentity): Reader {
  let open: OpenReader | null = null

  function close(): void {
    open?.files.close()
    open?.database.close()
    open = null
  }

  function answer(question: Question): Result<unknown> {
    try {
      const loss = open?.files.findMoved() ?? null
      if (loss !== null) {
        // Records that are only in files without a path would be gone with this process.
        close()
        return refuse(storageFault(path, loss))
      }
      if (open === null) {
        const refusal = findFileFault(path)
        if (refusal !== null) return refuse(refusal)
        open = openFile(path, identity)
      }
      return ok(answerFrom(open.database, open.questions, question))
    } catch (error) {
      if (error instanceof HoldfastError) return refuse(error.toFault())
      const isOfIndex = question[0] === 'search' && isIndexDamage(error)
      if (isOfIndex || isStorageFailure(error)) close() // the next question opens the file again
      return refuse(isOfIndex ? searchIndexFault(path) : faultOf(error, path))
    }
  }

  // `Questions` pairs each name with its arguments and answer; TypeScript cannot follow that through the call.
  const ask = ((...question: unknown[]) => answer(question as unknown as Question)) as Reader['ask']
  return { ask, answer, close }
}

type OpenReader = {
  readonly database: DatabaseSync
  readonly questions: ReadRequests
  readonly files: OpenedFiles
}

function openFile(path: string, identity?: FileIdentity): OpenReader {
  const database = openForReading(path)
  try {
    const questions = whileBusy(() => createQuestions(database))
    return { database, questions, files: rememberFiles(path, identity) }
  } catch (error) {
    database.close()
    throw error
  }
}

/** Opens a store on this thread; null if there is no file. Refused: not_a_store, store_too_new, storage_error. */
export function openReader(path: string): Result<Reader | null> {
  if (!existsSync(path)) {
    const saved = findSavedCopy(path)
    return saved === null ? ok(null) : refuse(saved)
  }
  const reader = createReader(path)
  const opened = reader.ask('open')
  if (opened.ok) return ok(reader)
  reader.close()
  return opened
}

/** Answers in one transaction, so that a head and the records below it belong together. It ends before this returns. */
export function answerFrom(database: DatabaseSync, questions: ReadRequests, question: Question): unknown {
  whileBusy(() => database.exec('begin'))
  try {
    return whileBusy(() => runCall(questions, question))
  } finally {
    if (database.isTransaction) database.exec('commit')
  }
}

/** Prepares the statements of every question but a search. */
export function createQuestions(database: DatabaseSync): ReadRequests {
  // Prepared on first use: a store of an earlier version lacks their tables.
  let search: ReturnType<typeof createSearchReader> | null = null
  let hash: StatementSync | null = null
  let tokens: StatementSync | null = null
  const nodes = database.prepare('select id, address, started_at as startedAt from node order by id')
  const draft = database.prepare('select step, parts from draft join session using (sid) where id = ?')
  const snapshot = database.prepare(
    'select snapshot.seq, fold, crc, body from snapshot join session using (sid) where id = ? and fold = ?',
  )
  const trust = database.prepare('select tool, args_hash from trust where workspace = ? order by tool, args_hash')

  return {
    ...createRecordReader(database),
    ...createCatalogueReader(database),
    ...createBlobUseReader(database),
    ...createFollowReader(database),
    ...createSpendingReader(database),
    open: () => undefined,
    search(request) {
      search ??= createSearchReader(database)
      return search(request)
    },
    commandHash(session, commandId) {
      hash ??= database.prepare(`
        select hash from session join record using (sid) join command_hash using (sid, seq)
        where id = ? and command_id = ?`)
      const row = hash.get(session, commandId)
      return row === undefined ? null : String(row['hash'])
    },
    nodes: () => nodes.all().map((row) => ({ ...row }) as Omit<NodeRow, 'isLive'>), // its columns
    loadDraft(session) {
      const row = draft.get(session)
      return row === undefined ? null : { step: Number(row['step']), parts: String(row['parts']) }
    },
    loadSnapshot(session, fold) {
      const row = snapshot.get(session, fold)
      if (row === undefined) return null
      const stored = { seq: Number(row['seq']), fold: Number(row['fold']), body: String(row['body']) }
      return snapshotChecksum(session, stored) === Number(row['crc']) ? stored : null
    },
    tokens() {
      tokens ??= database.prepare(selectTokens)
      return tokens.all().map(toToken)
    },
    workspaceTrust: (workspace) =>
      trust.all(workspace).map((row) => ({ tool: String(row['tool']), argsHash: String(row['args_hash']) })),
  }
}

export const selectTokens = `
  select id, hash, name, role, session, created_at as createdAt, created_by as createdBy, expires_at as expiresAt,
    last_used_at as lastUsedAt from token order by created_at, rowid`

export const toToken = (row: object): StoredToken => ({ ...row }) as StoredToken // its columns

/** Answers which blobs the records refer to. */
export function createBlobUseReader(database: DatabaseSync): Pick<ReadRequests, 'blobsInUse' | 'refersTo'> {
  const used = database.prepare(`
    select value as hash from json_each(?) where exists (select 1 from blob_use where hash = value)`)
  // A session's own records, and the ones it shares with its parents.
  const usedBy = database.prepare(`
    with recursive lineage(sid, parent, base, upTo) as (
      select sid, parent, base, head from session where id = ? and purged_at is null
      union all
      select above.sid, above.parent, above.base, lineage.base from lineage join session above on above.sid = lineage.parent
    )
    select 1 from blob_use join lineage using (sid) where hash = ? and seq <= upTo limit 1`)

  return {
    blobsInUse: (hashes) => used.all(JSON.stringify(hashes)).map((row) => String(row['hash']) as BlobHash), // one of `hashes`
    refersTo: (session, hash) => usedBy.get(session, hash) !== undefined,
  }
}
