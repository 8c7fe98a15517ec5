import type { TrustChange } from '@holdfast/core/ports'
import type { Seq, SessionId, Trust } from '@holdfast/protocol'
import { applyTrustChange, compareTrusts } from '../../memory/memory-trusts.ts'
import { readJsonIfExists, replaceFile } from './replace-file.ts'

type Trusts = Readonly<Record<string, readonly Trust[]>>

/** The record that decides a pending change: the change happened if the log has this record. */
export type TrustMark = { readonly session: SessionId; readonly seq: Seq; readonly crc: string }

type StoredTrusts = { readonly trusts: Trusts; readonly next?: (TrustMark & { readonly trusts: Trusts }) | undefined }

export type TrustFile = Awaited<ReturnType<typeof openTrustFile>>

type HasRecord = (mark: TrustMark) => Promise<boolean>

/** Reads the file. `hasRecord` decides a change that a crash cut short. */
export async function readTrusts(path: string, hasRecord: HasRecord) {
  const stored = (await readJsonIfExists(path)) as Partial<StoredTrusts> | null // written by us
  const next = stored?.next
  const trusts: Trusts = next !== undefined && (await hasRecord(next)) ? next.trusts : (stored?.trusts ?? {})
  return { trusts, isPending: next !== undefined }
}

/** Opens the trusts of each workspace. If the file is deleted, nothing is trusted and people are asked again. */
export async function openTrustFile(path: string, hasRecord: HasRecord) {
  const stored = await readTrusts(path, hasRecord)
  let { trusts } = stored
  let last: Promise<void> = Promise.resolve()
  const write = (body: StoredTrusts) => replaceFile(path, `${JSON.stringify(body, null, 2)}\n`)
  if (stored.isPending) await write({ trusts })

  return {
    of: (workspace: string): readonly Trust[] => (trusts[workspace] ?? []).toSorted(compareTrusts),

    /** Changes trust if `work` makes the record at `mark` durable; the file names that record first. */
    change(
      workspace: string,
      changes: readonly TrustChange[],
      mark: TrustMark,
      work: () => Promise<void>,
    ): Promise<void> {
      const changing = last.then(async () => {
        const next = { ...trusts, [workspace]: changes.reduce(applyTrustChange, trusts[workspace] ?? []) }
        await write({ trusts, next: { ...mark, trusts: next } })
        await work()
        trusts = next
      })
      // The caller need not wait for this write: if it fails, the pending change in the file means the same.
      last = changing.then(() => write({ trusts })).catch(() => undefined)
      return changing
    },

    /** Resolves when the file has no pending change. */
    settled: () => last,
  }
}
