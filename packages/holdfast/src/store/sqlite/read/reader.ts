import type { DatabaseSync } from 'node:sqlite'
import { done, ok, type Result, refuse } from '@holdfast/protocol/result'
import { snapshotChecksum } from '../../snapshot-checksum.ts'
import { faultOf, isStorageFailure } from '../../storage-fault.ts'
import { whileBusy } from '../file/busy-retry.ts'
import { openForReading, refusalOf } from '../file/database-file.ts'
import type { ReadAnswers, ReadRequest } from '../rows/messages.ts'
import { createRecordReader } from '../rows/record-reader.ts'
import { createSearchReader } from '../search/query.ts'
import { isSearchDamage, searchDamaged } from '../search/table.ts'
import { createBlobUseReader } from './blob-use-reader.ts'
import { createCatalogueReader } from './catalogue-reader.ts'
import { createFollowReader } from './follow-reader.ts'

export interface Reader {
  run<Op extends ReadRequest['op']>(request: Extract<ReadRequest, { readonly op: Op }>): Result<ReadAnswers[Op]>
  close(): void
}

type Open = {
  readonly database: DatabaseSync
  readonly answer: (request: ReadRequest) => Result<ReadAnswers[ReadRequest['op']]>
}

/** Answers questions about a store from one read-only connection. Synchronous: for a worker, or a command that only reads. */
export function createReader(path: string): Reader {
  let open: Open | null = null

  function close(): void {
    open?.database.close()
    open = null
  }

  function run(request: ReadRequest): Result<ReadAnswers[ReadRequest['op']]> {
    try {
      if (open === null) {
        const refusal = refusalOf(path)
        if (refusal !== null) return refuse(refusal)
        const database = openForReading(path)
        open = { database, answer: whileBusy(() => createAnswer(database)) }
      }
      const { database, answer } = open
      // One transaction, so that a head and the records below it are of the same moment; it ends before we return.
      whileBusy(() => database.exec('begin'))
      try {
        return whileBusy(() => answer(request))
      } finally {
        if (database.isTransaction) database.exec('commit')
      }
    } catch (error) {
      const isSearch = request.op === 'search' && isSearchDamage(error)
      if (isSearch || isStorageFailure(error)) close() // the next question opens it anew
      if (isSearch) return refuse(searchDamaged(path))
      return refuse(faultOf(error, path))
    }
  }

  // The switch in `createAnswer` pairs each op with its answer, which TypeScript cannot follow through a union.
  return { run: run as Reader['run'], close }
}

function createAnswer(database: DatabaseSync): (request: ReadRequest) => Result<ReadAnswers[ReadRequest['op']]> {
  const records = createRecordReader(database)
  const catalogue = createCatalogueReader(database)
  const follower = createFollowReader(database)
  const blobs = createBlobUseReader(database)
  const search = createSearchReader(database)
  const nodes = database.prepare('select id, address, started_at from node order by id')
  const draft = database.prepare('select step, parts from draft join session using (sid) where id = ?')
  const snapshot = database.prepare(
    'select snapshot.seq, fold, crc, body from snapshot join session using (sid) where id = ? and fold = ?',
  )
  const trust = database.prepare('select tool, args_hash from trust where workspace = ? order by tool, args_hash')

  return (request) => {
    switch (request.op) {
      case 'open':
        return done
      case 'read':
        return ok(records.read(request.session, request.range))
      case 'readRefs':
        return ok(records.readRefs(request.session, request.calls))
      case 'findCommand':
        return ok(records.findCommand(request.session, request.commandId))
      case 'list':
        return catalogue.list(request.request)
      case 'find':
        return ok(catalogue.find(request.name))
      case 'search':
        return search(request.request)
      case 'busy':
        return ok(catalogue.busy())
      case 'entry':
        return ok(catalogue.entry(request.session))
      case 'nodes':
        return ok(
          nodes.all().map((row) => ({
            id: String(row['id']),
            address: String(row['address']),
            startedAt: String(row['started_at']),
          })),
        )
      case 'loadDraft': {
        const row = draft.get(request.session)
        return ok(row === undefined ? null : { step: Number(row['step']), parts: String(row['parts']) })
      }
      case 'loadSnapshot': {
        const row = snapshot.get(request.session, request.fold)
        if (row === undefined) return ok(null)
        const stored = { seq: Number(row['seq']), fold: Number(row['fold']), body: String(row['body']) }
        return ok(snapshotChecksum(request.session, stored) === Number(row['crc']) ? stored : null)
      }
      case 'workspaceTrust': {
        const rows = trust.all(request.workspace)
        return ok(rows.map((row) => ({ tool: String(row['tool']), argsHash: String(row['args_hash']) })))
      }
      case 'follow':
        return ok(follower().follow(request.name, request.limit))
      case 'followed':
        return ok(follower().followed(request.after, request.limit))
      case 'trashed':
        return ok(follower().trashed())
      case 'blobsInUse':
        return ok(blobs.inUse(request.hashes))
      case 'refersTo':
        return ok(blobs.refersTo(request.session, request.hash))
      case 'blobUse':
        return ok(follower().blobUse(request.session, request.after))
      default:
        return request satisfies never
    }
  }
}
