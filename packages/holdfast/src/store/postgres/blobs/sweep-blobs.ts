import type { AreUsed, BlobSweep, SweepOptions } from '@holdfast/core/ports'
import type { BlobHash } from '@holdfast/protocol'
import type { Database, SqlRow } from '../connect/connect.ts'
import type { Contents } from './contents.ts'

const pageHashes = 500

type Old = { readonly hash: BlobHash; readonly bytes: number; readonly at: unknown; readonly asideAt: unknown }

/**
 * Sweeps all blobs once. Blobs that earlier sweeps set aside come first: no sweep sets a blob aside and removes it. A blob
 * that was put or looked up meanwhile has another time, and stays.
 */
export async function sweepBlobs(
  database: Database,
  contents: Pick<Contents, 'remove'>,
  areUsed: AreUsed,
  options: SweepOptions,
): Promise<BlobSweep> {
  const { now, graceMs, dryRun = false, signal } = options
  const olderThan = now - graceMs
  let [removed, bytes, setAside] = [0, 0, 0]

  for await (const some of listOld(database, 'aside_at', olderThan)) {
    const used = await areUsed(some.map(({ hash }) => hash))
    if (signal?.aborted) break
    if (!dryRun)
      await restore(
        database,
        some.filter(({ hash }) => used.has(hash)),
        now,
      )
    for (const one of some.filter(({ hash }) => !used.has(hash))) {
      if (!dryRun && !(await remove(database, contents, one))) continue
      removed += 1
      bytes += one.bytes
    }
  }
  for await (const some of signal?.aborted ? [] : listOld(database, 'at', olderThan)) {
    const used = await areUsed(some.map(({ hash }) => hash))
    if (signal?.aborted) break
    const unused = some.filter(({ hash }) => !used.has(hash))
    setAside += dryRun ? unused.length : await putAside(database, unused, now)
  }
  if (!dryRun && !signal?.aborted) await removeCutUploads(database, contents, olderThan)
  return { removed, bytes, setAside }
}

/** Yields the blobs that are old enough: those that were set aside, or the others. */
async function* listOld(
  { read }: Database,
  column: 'at' | 'aside_at',
  olderThan: number,
): AsyncIterable<readonly Old[]> {
  const where = column === 'at' ? 'aside_at is null and at <= $1' : 'aside_at <= $1'
  for (let after = ''; ; ) {
    const rows = await read(
      `select hash, bytes, at, aside_at from @blob where ${where} and hash > $2 order by hash limit ${pageHashes}`,
      [olderThan, after],
    )
    if (rows.length > 0) yield rows.map(toOld)
    if (rows.length < pageHashes) return
    after = String(rows.at(-1)?.['hash'])
  }
}

const toOld = ({ hash, bytes, at, aside_at: asideAt }: SqlRow): Old => ({
  hash: hash as BlobHash,
  bytes: Number(bytes),
  at,
  asideAt, // the column holds hashes
})

async function restore({ write }: Database, some: readonly Old[], now: number): Promise<void> {
  await write('update @blob set aside_at = null, at = $2 where hash = any($1) and aside_at is not null', [
    ...[some.map(({ hash }) => hash), now],
  ])
}

/** Returns whether the blob was still set aside, and is removed with its bytes. */
async function remove(
  { write }: Database,
  contents: Pick<Contents, 'remove'>,
  { hash, asideAt }: Old,
): Promise<boolean> {
  const gone = await write(
    `with gone as (delete from @blob where hash = $1 and aside_at = $2 returning content)
    select content from gone`,
    [hash, asideAt],
  )
  const [row] = gone
  if (row !== undefined) await contents.remove(Number(row['content']))
  return row !== undefined
}

async function putAside({ write }: Database, some: readonly Old[], now: number): Promise<number> {
  const changed = await write(
    `update @blob set aside_at = $3 from unnest($1::text[], $2::bigint[]) as old (hash, at)
    where blob.hash = old.hash and blob.at = old.at and aside_at is null returning blob.hash`,
    [some.map(({ hash }) => hash), some.map(({ at }) => at), now],
  )
  return changed.length
}

/** Removes the bytes of uploads that were cut off. */
async function removeCutUploads(
  { read, write }: Database,
  contents: Pick<Contents, 'remove'>,
  olderThan: number,
): Promise<void> {
  const isCut = 'at <= $1 and not exists (select 1 from @blob where content = content.id)'
  await write(`delete from @content where object is null and ${isCut}`, [olderThan])
  for (const { id } of await read(`select id from @content where ${isCut}`, [olderThan]))
    await contents.remove(Number(id))
}
