import { escapeLine } from '@holdfast/protocol/hostile-text'
import { parseDiskUrl } from '../../../store/open/store-location.ts'
import type { ArgsOf } from '../../args/command-specs.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { createProgressLine } from '../../render/progress-line.ts'
import { tellProblem } from '../../sessions/connect.ts'
import { diskStoreOf } from '../../sessions/resolve-store.ts'
import { type Ended, ended, exitCodes, misused, refused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'

/** Copies a store into another and compares the two; the first stays as it is. */
export async function migrate({ flags }: ArgsOf<'migrate'>, place: CliContext): Promise<Ended> {
  if (flags.to === undefined) return misused('migrate needs --to <url>: sqlite:PATH or jsonl:DIR.')
  const from = flags.from === undefined ? diskStoreOf(place) : parseDiskUrl(flags.from, place.home)
  if (!from.ok) return refused(from.fault)
  const to = parseDiskUrl(flags.to, place.home)
  if (!to.ok) return refused(to.fault)

  const signal = place.untilInterrupted()
  const line = createProgressLine(place)
  const { migrate: run } = await import('../../../admin/migrate/migrate-store.ts')
  const migrated = await run({
    ...{ from: from.value, to: to.value, signal, onProblem: tellProblem(place) },
    onProgress: ({ phase, sessions, records }) => line.tell(`${phase}: ${sessions} sessions, ${records} records`),
  })
  await line.end()
  if (!migrated.ok) return refused(migrated.fault)
  const { value } = migrated
  if (flags.json) await place.out.write(`${toJsonText(value)}\n`)
  else {
    const { copied, kept, records, blobs, blobBytes } = value
    await place.out.write(
      `${copied} sessions copied, ${kept} already there; ${records} records the same on both sides; ${blobs} files, ${blobBytes} bytes.\n`,
    )
  }
  for (const { session, why } of value.refused) await place.err.write(`${session}: not copied, ${escapeLine(why)}.\n`)
  for (const hash of value.missingBlobs) await place.err.write(`The file ${hash} is missing in ${value.from} too.\n`)
  if (signal.aborted) return ended(exitCodes.interrupted)
  return ended(value.refused.length > 0 ? exitCodes.failed : exitCodes.ok)
}
