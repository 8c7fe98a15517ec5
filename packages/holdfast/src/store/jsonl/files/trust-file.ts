import type { TrustChange } from '@holdfast/core/ports'
import { addTrust, type Seq, type SessionId, type Trust } from '@holdfast/protocol'
import { readJsonIfExists, replaceFile } from './atomic-file.ts'

type TrustsOf = Readonly<Record<string, readonly Trust[]>>

/** The record that decides whether a change came about: it did if the log has this line. */
export type TrustMark = { readonly session: SessionId; readonly seq: Seq; readonly crc: string }

type Held = { readonly trusts: TrustsOf; readonly next?: (TrustMark & { readonly trusts: TrustsOf }) | undefined }

/** What each workspace trusts. One that is deleted trusts nothing: people are asked again. */
export interface TrustFile {
  of(workspace: string): readonly Trust[]
  /**
   * Changes trust together with what `work` makes durable: the file says beforehand what holds if the marked line is
   * there. Nothing is changed when `work` throws.
   */
  change(workspace: string, changes: readonly TrustChange[], mark: TrustMark, work: () => Promise<void>): Promise<void>
  /** Resolves when the file needs no log to be understood. */
  settled(): Promise<void>
}

/** `isThere` tells whether a log has the line that decides over a change which a crash cut short. */
export async function openTrustFile(path: string, isThere: (mark: TrustMark) => Promise<boolean>): Promise<TrustFile> {
  const held = (await readJsonIfExists(path)) as Held | null // written by us
  let trusts: TrustsOf = held?.trusts ?? {}
  if (held?.next !== undefined && (await isThere(held.next))) trusts = held.next.trusts
  let last: Promise<void> = Promise.resolve()
  const write = (body: Held) => replaceFile(path, `${JSON.stringify(body, null, 2)}\n`)
  if (held?.next !== undefined) await write({ trusts })

  return {
    of: (workspace) => (trusts[workspace] ?? []).toSorted(byToolThenHash),

    change(workspace, changes, mark, work) {
      const changing = last.then(async () => {
        const next = { ...trusts, [workspace]: changes.reduce(changed, trusts[workspace] ?? []) }
        await write({ trusts, next: { ...mark, trusts: next } })
        await work()
        trusts = next
      })
      // Whoever asked need not wait for this; a failure leaves the mark, which says the same.
      last = changing.then(() => write({ trusts })).catch(() => undefined)
      return changing
    },

    settled: () => last,
  }
}

function changed(known: readonly Trust[], change: TrustChange): readonly Trust[] {
  if (change.type === 'granted') return addTrust(known, change.trust)
  return change.tool === null ? [] : known.filter(({ tool }) => tool !== change.tool)
}

function byToolThenHash(left: Trust, right: Trust): number {
  if (left.tool !== right.tool) return left.tool < right.tool ? -1 : 1
  return (left.argsHash ?? '') < (right.argsHash ?? '') ? -1 : 1
}
