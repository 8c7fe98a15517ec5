import type { Stats, Tally } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { ArgsOf } from '../../args/command-specs.ts'
import { wholeNumber } from '../../args/whole-number.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { diskStoreOf } from '../../sessions/resolve-store.ts'
import { type Ended, ended, misused, refused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'
import { textTable } from '../../terminal/text-table.ts'

const daysDefault = 30
const daysMax = 3660

export async function stats({ flags }: ArgsOf<'stats'>, place: CliContext): Promise<Ended> {
  const days = flags.days === undefined ? daysDefault : wholeNumber(flags.days, 1, daysMax)
  if (days === null) return misused(`--days is a whole number from 1 to ${daysMax}, not '${flags.days}'.`)
  const store = diskStoreOf(place)
  if (!store.ok) return refused(store.fault)
  const { countStore } = await import('../../../admin/stats/count-store.ts')
  const counted = await countStore(store.value, { days, nowMs: place.now() })
  if (!counted.ok) return refused(counted.fault)
  if (flags.json) await place.out.write(`${toJsonText(counted.value)}\n`)
  else await tell(counted.value, place)
  return ended()
}

async function tell({ sessions, total, days, models, workspaces, store }: Stats, { out }: CliContext): Promise<void> {
  const { listed, pinned, trashed } = sessions
  await out.write(`${listed} sessions, ${pinned} pinned, ${trashed} in the trash.\n`)
  const table = (name: string, rows: readonly (readonly [string, Tally])[]) =>
    textTable(
      [name, 'MESSAGES', 'TURNS', 'CALLS', 'IN', 'OUT', 'CACHED', 'COST'],
      rows.map(([first, tally]) => [escapeLine(first), ...cells(tally)]),
      out.paint,
    )
  await out.write(`\n${table('DAY', [...days.map((one) => [one.day, one] as const), ['all', total]])}`)
  await out.write(
    `\n${table(
      'MODEL',
      models.map((one) => [one.model, one] as const),
    )}`,
  )
  await out.write(
    `\n${table(
      'WORKSPACE',
      workspaces.map((one) => [one.workspace, one] as const),
    )}`,
  )
  const { records, recordBytes, indexBytes, blobs, blobBytes } = store
  await out.write(
    `\n${records} records, ${megabytes(recordBytes)}; index ${megabytes(indexBytes)}; ${blobs} files, ${megabytes(blobBytes)}.\n`,
  )
}

function cells({ messages, turns, calls, unpriced, input, output, cacheRead, cost }: Tally): readonly string[] {
  const unknown = unpriced === 0 ? '' : ` + ${unpriced} unpriced`
  const price = cost === null ? 'unknown' : `$${cost.toFixed(4)}${unknown}`
  return [...[messages, turns, calls, input, output, cacheRead].map(String), price]
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
