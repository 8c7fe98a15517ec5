import type { Stats, Tally } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import type { RunCommand } from '../../args/command-spec.ts'
import { resolveSavedStore } from '../../connect/resolve-store.ts'
import { counted } from '../../render/tables.ts'
import { textTable } from '../../render/text-table.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import type { Output } from '../../terminal/output.ts'
import type { storeSpecs } from './specs.ts'

export const run: RunCommand<typeof storeSpecs.stats> = async (
  { flags: { days = 30, json } },
  { out, now, ...context },
) => {
  const stats = context.server
    ? await (await import('../../connect/connect-given.ts')).connectGiven(context.server).stats({ days })
    : await countHere(context, days, now())
  if (json) await out.writeJson(stats)
  else await printStats(stats, out)
}

async function countHere(context: Pick<CliContext, 'home' | 'store'>, days: number, nowMs: number): Promise<Stats> {
  const { countStore } = await import('../../../admin/stats/count-store.ts')
  return orThrow(await countStore(orThrow(resolveSavedStore(context)), { days, nowMs }))
}

async function printStats({ sessions, total, days, models, workspaces, store }: Stats, out: Output): Promise<void> {
  const { listed, pinned, trashed } = sessions
  const table = (name: string, rows: readonly (readonly [string, Tally])[]) =>
    textTable(
      [name, 'MESSAGES', 'TURNS', 'MODEL CALLS', 'IN', 'OUT', 'CACHED', 'COST'],
      rows.map(([first, tally]) => [escapeLine(first), ...cells(tally)]),
      out,
    )
  const byModel = models.map((one) => [one.model, one] as const)
  const byWorkspace = workspaces.map((one) => [one.workspace, one] as const)
  const { records, recordBytes, indexBytes, blobs, blobBytes } = store
  const parts = [
    `${counted(listed, 'session')}, ${pinned} pinned, ${trashed} in the trash.\n`,
    table('DAY', [...days.map((one) => [one.day, one] as const), ['all', total]]),
    table('MODEL', byModel),
    table('WORKSPACE', byWorkspace),
    `${counted(records, 'record')}, ${megabytes(recordBytes)}; index ${megabytes(indexBytes)}; ${counted(blobs, 'file')}, ${megabytes(blobBytes)}.\n`,
  ]
  await out.write(out.wrap(parts.join('\n')))
}

function cells({ messages, turns, calls, unpriced, input, output, cacheRead, cost }: Tally): readonly string[] {
  const unknown = unpriced === 0 ? '' : ` + ${unpriced} unpriced`
  const price = cost === null ? 'unknown' : `$${cost.toFixed(4)}${unknown}`
  return [...[messages, turns, calls, input, output, cacheRead].map(String), price]
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
