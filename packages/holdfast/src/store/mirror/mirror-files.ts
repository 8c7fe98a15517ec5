import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { AreUsed, Blobs, CatalogueEntry, OnProblem, SweepOptions } from '@holdfast/core/ports'
import type { Meta, Seq, SessionId } from '@holdfast/protocol'
import { orThrow } from '@holdfast/protocol/result'
import { openFileBlobs } from '../blobs/file-blobs.ts'
import { openCatalogueFile, readCatalogue } from '../jsonl/catalogue/catalogue-file.ts'
import { createForkIndex } from '../jsonl/catalogue/fork-index.ts'
import { addKnownRows, rebuildRows } from '../jsonl/catalogue/rebuild-rows.ts'
import { createSessionNames } from '../jsonl/catalogue/session-names.ts'
import { openTrashFile } from '../jsonl/catalogue/trash-file.ts'
import type { DirectoryLock } from '../jsonl/files/directory-lock.ts'
import { type JsonlPaths, prepareDirectory } from '../jsonl/files/layout.ts'
import { createDirectorySync, writeTemporaryFile } from '../jsonl/files/replace-file.ts'
import { encodeHeader, encodeLine } from '../jsonl/log/log-line.ts'
import { createOpenLogs } from '../jsonl/log/open-logs.ts'
import type { SessionRow } from '../jsonl/log/session-row.ts'
import { addToIndex } from '../jsonl/write/append.ts'
import { createSessionRemover } from '../jsonl/write/remove-session.ts'
import type { FollowedSession, FollowPage, StoredPage, StoredRecord } from '../sqlite/rows/messages.ts'
import type { FollowedLog } from '../sqlite/sqlite-store.ts'

export type MirrorFilesDeps = {
  readonly places: JsonlPaths
  readonly log: FollowedLog
  readonly blobs: Blobs
  readonly onProblem: OnProblem
  readonly lock: DirectoryLock
}

/** The files of a mirror. What is kept twice is written once: a record goes in only where it is the next one. */
export interface MirrorFiles {
  keep(page: FollowPage): Promise<void>
  sweep(areUsed: AreUsed, options: SweepOptions): Promise<void>
  close(): Promise<void>
}

const openMax = 64
const pageRecords = 1000
const pageSessions = 1000

/** Opens the files in a locked directory, and compares them with the store: what was missed is made good. */
export async function openMirrorFiles({ places, log, blobs, onProblem, lock }: MirrorFilesDeps): Promise<MirrorFiles> {
  const rows = new Map<SessionId, SessionRow>()
  const isIdle = () => true // one hand writes here, one session after another
  const logs = createOpenLogs({ paths: places, openMax, isIdle, changed: () => undefined, onProblem })
  const found = await prepareDirectory(places)
  const known = await readCatalogue(places.catalogue)
  await rebuildRows({ paths: places, rows, logs, onProblem }, addKnownRows(rows, known.rows, found))
  const catalogue = await openCatalogueFile(places.catalogue, known, rows)
  const syncNames = createDirectorySync(places.directory)
  const trash = await openTrashFile(places.trash, onProblem)
  const forks = createForkIndex(rows.values())
  const remover = createSessionRemover({
    paths: places,
    rows,
    forks,
    names: createSessionNames(rows),
    logs,
    catalogue,
    trash,
    syncNames,
  })
  const copies = orThrow(await openFileBlobs(join(places.directory, 'blobs')))
  let [removals, trashings] = [-1, -1]

  /** Brings a session's file to what the store has of it now. */
  async function copySession(session: FollowedSession): Promise<void> {
    let row = rows.get(session.session)
    if (row !== undefined && (row.head > session.head || row.base !== session.base)) {
      await remover.remove(row) // another of the same name, or one that was put back
      row = rows.get(session.session)
    }
    for (let head = row?.head ?? session.base; head < session.head || row === undefined; head = row.head) {
      const page = await log.records(session.session, head, pageRecords)
      row = await add(session, page)
      if (row.head === head) break // removed meanwhile: the next comparison sees it
    }
    refresh(row, session)
  }

  /** A crash may have come between a session's file and its row. */
  function refresh(row: SessionRow, session: FollowedSession): void {
    const entry = entryOf(session)
    if (row.isShared || isDeepStrictEqual(row.entry, entry)) return
    row.entry = entry
    catalogue.changed(row)
  }

  async function add(session: FollowedSession, page: StoredPage): Promise<SessionRow> {
    const known = rows.get(session.session)
    await copyBlobs(session.session, known?.head ?? session.base)
    return known === undefined ? begin(session, page) : extend(known, session, page)
  }

  async function begin(session: FollowedSession, page: StoredPage): Promise<SessionRow> {
    const { session: id, order, parent, base, isPurged } = session
    const entry = entryOf(session)
    const path = places.log(id, isPurged)
    const header = encodeHeader({ session: id, parent, base, entry })
    await rename(await writeTemporaryFile(path, header), path)
    await syncNames.sync()
    const row: SessionRow = {
      ...{ id, order, parent, base, head: base, bytes: Buffer.byteLength(header), epoch: 1, owner: null },
      ...{ entry, isShared: isPurged, trashedAt: null },
    }
    rows.set(id, row)
    forks.add(row)
    return extend(row, session, page)
  }

  async function extend(row: SessionRow, session: FollowedSession, page: StoredPage): Promise<SessionRow> {
    const open = await logs.get(row)
    const fresh = page.filter(({ seq }) => seq > row.head)
    for (const run of unbroken(fresh)) {
      const lines = run.map((record, prior) => {
        const marks = { prior, more: run.length - prior - 1, endsDraft: false, blobs: [] }
        return { record, text: encodeLine(row.id, record, marks) }
      })
      const text = lines.map((line) => line.text).join('')
      await open.writer.write(text)
      addToIndex(open, lines, open.writer.end() - Buffer.byteLength(text))
    }
    // What the store has lost is lost here too, and keeps its place.
    open.index.loseUpTo(fresh.at(-1)?.seq ?? row.head)
    ;[row.head, row.bytes] = [open.index.head(), open.writer.end()]
    if (!row.isShared) row.entry = entryOf(session)
    catalogue.changed(row)
    return row
  }

  async function copyBlobs(session: SessionId, after: Seq): Promise<void> {
    for (const hash of await log.blobUse(session, after)) {
      if (await copies.has(hash)) continue
      const bytes = await blobs.open(hash)
      if (bytes === null) continue // lost in the store too
      orThrow(await copies.put(bytes))
    }
  }

  /** Removes what the store has no more, and copies what is missing. */
  async function compare(): Promise<void> {
    const there = new Set<SessionId>()
    for (let after = 0; ; ) {
      const some = await log.sessions(after, pageSessions)
      for (const session of some) {
        if (!session.isPurged || (rows.get(session.session)?.isShared ?? true)) {
          there.add(session.session)
          await copySession(session)
        }
      }
      const last = some.at(-1)
      if (last === undefined || some.length < pageSessions) break
      after = last.order
    }
    for (const row of [...rows.values()]) {
      if (!there.has(row.id) && rows.get(row.id) === row && !row.isShared) await remover.remove(row)
    }
  }

  async function copyTrash(): Promise<void> {
    const there = new Map((await log.trashed()).map(({ session, at }) => [session, at]))
    const [before, changes] = [trash.all(), [] as Promise<void>[]]
    for (const [session, at] of there) if (before.get(session) !== at) changes.push(trash.put(session, at))
    for (const session of before.keys()) if (!there.has(session)) changes.push(trash.remove(session))
    await Promise.all(changes)
  }

  return {
    async keep(page) {
      if (page.removals !== removals) await compare()
      removals = page.removals
      for (const session of page.sessions) {
        const records = page.records.filter((one) => one.session === session.session).map(({ record }) => record)
        const head = rows.get(session.session)?.head ?? session.base
        const first = records.find(({ seq }) => seq > head)
        if (first === undefined) continue
        // A gap can only come of what was read in another order than it was written: read it in its own.
        if (first.seq === head + 1) await add(session, records)
        else await copySession(session)
      }
      if (page.trashings !== trashings) await copyTrash()
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
        lock.release()
      }
    },
  }
}

function entryOf({ meta, spoken, busy, activeAt, isPurged, session }: FollowedSession): CatalogueEntry {
  const known = isPurged ? ({ id: session, handle: '' } as Meta) : (JSON.parse(meta) as Meta) // written by us; nobody finds a purged one
  return { meta: known, spoken: spoken === 1, busy: busy === 1, activeAt }
}

/** The runs of records that follow one on the other: a write that has all its lines has no place between them. */
function unbroken(page: StoredPage): readonly (readonly StoredRecord[])[] {
  const runs: StoredRecord[][] = []
  let isOpen = false
  for (const record of page) {
    if ('lost' in record) {
      isOpen = false
      continue
    }
    if (isOpen) runs.at(-1)?.push(record)
    else runs.push([record])
    isOpen = true
  }
  return runs
}
