import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import { parseSavedUrl } from '../../../store/open/store-location.ts'
import type { RunCommand } from '../../args/command-spec.ts'
import { reportProblem } from '../../connect/connect.ts'
import { resolveSavedStore } from '../../connect/resolve-store.ts'
import { createProgressLine } from '../../render/progress-line.ts'
import { counted } from '../../render/tables.ts'
import { exitCodes, failWith, rejectUsage } from '../../terminal/exit.ts'
import type { storeSpecs } from './specs.ts'

/** Copies a store into another form and compares the two. */
export const run: RunCommand<typeof storeSpecs.migrate> = async ({ flags }, context) => {
  if (flags.to === undefined)
    return rejectUsage('migrate needs --to <url>: sqlite:PATH, jsonl:DIR or postgres://HOST/DATABASE.')
  const from = orThrow(flags.from === undefined ? resolveSavedStore(context) : parseSavedUrl(flags.from, context.home))
  const to = orThrow(parseSavedUrl(flags.to, context.home))

  const signal = context.untilInterrupted()
  const line = createProgressLine(context)
  const { migrate } = await import('../../../admin/migrate/migrate-store.ts')
  const migrated = await migrate({
    from,
    to,
    signal,
    onProblem: reportProblem(context),
    environment: context.environment,
    onProgress: ({ phase, records, total }) => line.show({ phase, done: records, total, unit: 'records' }),
  })
  await line.end()
  if (!migrated.ok) return failWith(migrated.fault)
  const { out, err } = context
  const { copied, kept, records, blobs, blobBytes, refused, missingBlobs, rulesLeft, from: source } = migrated.value
  if (flags.json) await out.writeJson(migrated.value)
  else
    await out.write(
      `${counted(copied, 'session')} copied, ${kept} copied before. Compared ${counted(records, 'record')}: all equal. ${counted(blobs, 'file')}, ${counted(blobBytes, 'byte')}.\n`,
    )
  if (rulesLeft > 0)
    await err.tell(
      `${counted(rulesLeft, 'permission rule')} of ${source} ${rulesLeft > 1 ? 'were' : 'was'} not copied: ${to.url} keeps none. List them with holdfast permissions --store ${source}, and add those that you need.`,
    )
  for (const { session, why } of refused) await err.tell(`${session} was not copied: ${escapeLine(why)}.`)
  for (const hash of missingBlobs) await err.tell(`The file ${hash} is also missing in ${source}.`)
  if (signal.aborted) return exitCodes.interrupted
  return refused.length > 0 ? exitCodes.failed : exitCodes.ok
}
