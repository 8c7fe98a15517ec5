import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { AreUsed, Blobs, CatalogueEntry, OnProblem, SweepOptions } from '@holdfast/core/ports'
import type { Meta, Seq, SessionId } from '@holdfast/protocol'
import { orThrow } from '@holdfast/protocol/result'
import type { FileLock } from '../../system/files/file-lock.ts'
import { openFileBlobs } from '../blobs/file-blobs.ts'
import { openCatalogueFile, readCatalogue } from '../jsonl/catalogue/catalogue-file.ts'
import { createForkIndex } from '../jsonl/catalogue/fork-index.ts'
import { addKnownRows, rebuildRows } from '../jsonl/catalogue/rebuild-rows.ts'
import { createSessionNames } from '../jsonl/catalogue/session-names.ts'
import { openTrashFile } from '../jsonl/catalogue/trash-file.ts'
import { type JsonlPaths, prepareDirectory } from '../jsonl/files/layout.ts'
import { createDirectorySync, writeTemporaryFile } from '../jsonl/files/replace-file.ts'
import { encodeHeader, encodeLine } from '../jsonl/log/log-line.ts'
import { createOpenLogs } from '../jsonl/log/open-logs.ts'
import type { SessionRow } from '../jsonl/log/session-row.ts'
import { addToIndex } from '../jsonl/write/append.ts'
import { createSessionRemover } from '../jsonl/write/session-files.ts'
import { decodeEntry } from '../sqlite/read/read-methods.ts'
import type { FollowedSession, FollowPage } from '../sqlite/rows/requests.ts'
import type { FollowedLog } from '../sqlite/sqlite-store.ts'
import type { StoredPage, StoredRecord } from '../stored-record.ts'

type MirrorFilesDeps = {
  readonly paths: JsonlPaths
  readonly log: FollowedLog
  readonly blobs: Blobs
  readonly onProblem: OnProblem
  readonly lock: FileLock
}

/** The files of a mirror. Each record is written once: only if it is the next one of its session. */
export interface MirrorFiles {
  copy(page: FollowPage): Promise<void>
  sweep(areUsed: AreUsed, options: SweepOptions): Promise<void>
  close(): Promise<void>
}

const openMax = 64
const pageRecords = 1000
const pageSessions = 1000

/** Opens the files in a locked directory. The first copy compares them with the store and adds what is missing. */
export async function openMirrorFiles(deps: MirrorFilesDeps): Promise<MirrorFiles> {
  const mirror = await openFiles(deps)
  const { rows, logs, catalogue, trash, copies } = mirror
  let [removals, trashings] = [-1, -1]
  return {
    async copy(page) {
      if (page.removals !== removals) await compare(mirror)
      removals = page.removals
      for (const session of page.sessions) {
        const records = page.records.filter((one) => one.session === session.id).map(({ record }) => record)
        const head = rows.get(session.id)?.head ?? session.base
        const first = records.find(({ seq }) => seq > head)
        if (first === undefined) continue
        // After a gap, read the session's records in their own order.
        if (first.seq === head + 1) await add(mirror, session, records)
        else await copySession(mirror, session)
      }
      if (page.trashings !== trashings) await copyTrash(mirror)
      trashings = page.trashings
      await catalogue.flush()
    },
    async sweep(areUsed, options) {
      await copies.sweep(areUsed, options)
    },
    async close() {
      try {
        await Promise.all([logs.close(), catalogue.close(), trash.close()])
      } finally {
        deps.lock.release()
      }
    },
  }
}

type OpenMirror = Awaited<ReturnType<typeof openFiles>>

async function openFiles({ paths, log, blobs, onProblem }: MirrorFilesDeps) {
  const rows = new Map<SessionId, SessionRow>()
  const isIdle = () => true // this mirror writes one session after another
  const logs = createOpenLogs({ paths, openMax, isIdle, changed: () => undefined, onProblem })
  const found = await prepareDirectory(paths)
  const known = await readCatalogue(paths.catalogue)
  await rebuildRows({ paths, rows, logs, onProblem }, addKnownRows(rows, known.rows, found))
  const catalogue = await openCatalogueFile(paths.catalogue, known, rows)
  const syncNames = createDirectorySync(paths.directory)
  const trash = await openTrashFile(paths.trash, onProblem)
  const forks = createForkIndex(rows.values())
  const names = createSessionNames(rows)
  const remover = createSessionRemover({ paths, rows, forks, names, logs, catalogue, trash, syncNames })
  const copies = orThrow(await openFileBlobs(join(paths.directory, 'blobs')))
  return { paths, log, blobs, rows, logs, catalogue, syncNames, trash, forks, remover, copies }
}

/** Brings a session's file up to date with the store. */
async function copySession(mirror: OpenMirror, session: FollowedSession): Promise<void> {
  const { rows, log, remover } = mirror
  let row = rows.get(session.id)
  if (row !== undefined && (row.head > session.head || row.base !== session.base)) {
    await remover.remove(row) // another session of the same id, or one that was restored from a backup
    row = rows.get(session.id)
  }
  for (let head = row?.head ?? session.base; head < session.head || row === undefined; head = row.head) {
    const page = await log.read(session.id, { after: head, limit: pageRecords })
    row = await add(mirror, session, page)
    if (row.head === head) break // it was removed meanwhile: the next comparison removes the file
  }
  refresh(mirror, row, session)
}

/** Updates a row that differs from its session: a crash may have come between the writes of file and row. */
function refresh({ catalogue }: OpenMirror, row: SessionRow, session: FollowedSession): void {
  const entry = entryOf(session)
  if (row.isShared || isDeepStrictEqual(row.entry, entry)) return
  row.entry = entry
  catalogue.changed(row)
}

async function add(mirror: OpenMirror, session: FollowedSession, page: StoredPage): Promise<SessionRow> {
  const known = mirror.rows.get(session.id)
  await copyBlobs(mirror, session.id, known?.head ?? session.base)
  return known === undefined ? begin(mirror, session, page) : extend(mirror, known, session, page)
}

async function begin(mirror: OpenMirror, session: FollowedSession, page: StoredPage): Promise<SessionRow> {
  const { paths, rows, forks, syncNames } = mirror
  const { id, order, parent, base, isPurged } = session
  const entry = entryOf(session)
  const path = paths.log(id, isPurged)
  const header = encodeHeader({ session: id, parent, base, entry })
  await rename(await writeTemporaryFile(path, header), path)
  await syncNames()
  const row: SessionRow = {
    id,
    order,
    parent,
    base,
    head: base,
    bytes: Buffer.byteLength(header),
    epoch: 1,
    owner: null,
    entry,
    isShared: isPurged,
    trashedAt: null,
  }
  rows.set(id, row)
  forks.add(row)
  return extend(mirror, row, session, page)
}

async function extend(
  { logs, catalogue }: OpenMirror,
  row: SessionRow,
  session: FollowedSession,
  page: StoredPage,
): Promise<SessionRow> {
  const open = await logs.get(row)
  const fresh = page.filter(({ seq }) => seq > row.head)
  for (const run of splitAtLost(fresh)) {
    const lines = run.map((record, prior) => {
      const marks = { prior, more: run.length - prior - 1, endsDraft: false, blobs: [] }
      return { record, text: encodeLine(row.id, record, marks) }
    })
    const text = lines.map((line) => line.text).join('')
    await open.writer.write(text)
    addToIndex(open, lines, open.writer.end() - Buffer.byteLength(text))
  }
  // A record that the store has lost is lost here too, and keeps its seq.
  open.index.loseUpTo(fresh.at(-1)?.seq ?? row.head)
  ;[row.head, row.bytes] = [open.index.head(), open.writer.end()]
  if (!row.isShared) row.entry = entryOf(session)
  catalogue.changed(row)
  return row
}

async function copyBlobs({ log, blobs, copies }: OpenMirror, session: SessionId, after: Seq): Promise<void> {
  for (const hash of await log.blobUse(session, after)) {
    if (await copies.has(hash)) continue
    const bytes = await blobs.open(hash)
    if (bytes === null) continue // the store has lost it too
    orThrow(await copies.put(bytes))
  }
}

/** Removes sessions that the store no longer has, and copies missing ones. */
async function compare(mirror: OpenMirror): Promise<void> {
  const { rows, log, remover } = mirror
  const stored = new Set<SessionId>()
  for (let after = 0; ; ) {
    const some = await log.followedSessions(after, pageSessions)
    for (const session of some) {
      if (!session.isPurged || (rows.get(session.id)?.isShared ?? true)) {
        stored.add(session.id)
        await copySession(mirror, session)
      }
    }
    const last = some.at(-1)
    if (last === undefined || some.length < pageSessions) break
    after = last.order
  }
  for (const row of [...rows.values()]) {
    if (!stored.has(row.id) && rows.get(row.id) === row && !row.isShared) await remover.remove(row)
  }
}

async function copyTrash({ log, trash }: OpenMirror): Promise<void> {
  const stored = new Map((await log.trashed()).map(({ session, at }) => [session, at]))
  const [before, changes] = [trash.all(), [] as Promise<void>[]]
  for (const [session, at] of stored) if (before.get(session) !== at) changes.push(trash.change(session, at))
  for (const session of before.keys()) if (!stored.has(session)) changes.push(trash.change(session, null))
  await Promise.all(changes)
}

/** A purged session has no metadata; it is in no list. */
const entryOf = ({ entry, isPurged, id }: FollowedSession): CatalogueEntry =>
  isPurged ? { ...entry, meta: { id, handle: '' } as Meta } : decodeEntry(entry)

/** Splits a page at its lost records: one write must have consecutive records. */
function splitAtLost(page: StoredPage): readonly (readonly StoredRecord[])[] {
  const runs: StoredRecord[][] = [[]]
  for (const record of page) {
    if ('lost' in record) runs.push([])
    else runs.at(-1)?.push(record)
  }
  return runs.filter((run) => run.length > 0)
}
