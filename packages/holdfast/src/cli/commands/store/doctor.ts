import { escapeLine } from '@holdfast/protocol/hostile-text'
import { orThrow } from '@holdfast/protocol/result'
import type { StoreReport } from '../../../admin/doctor/check-store.ts'
import type { ReadProgress } from '../../../store/read-only-store.ts'
import type { RunCommand } from '../../args/command-spec.ts'
import { resolveSavedStore } from '../../connect/resolve-store.ts'
import { createProgressLine } from '../../render/progress-line.ts'
import { counted } from '../../render/tables.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { exitCodes } from '../../terminal/exit.ts'
import type { storeSpecs } from './specs.ts'

/** Checks a whole store and, with --repair, repairs it. */
export const run: RunCommand<typeof storeSpecs.doctor> = async ({ flags: { repair, json } }, context) => {
  const store = orThrow(resolveSavedStore(context))
  const { check } = await import('../../../admin/doctor/check-store.ts')
  const line = createProgressLine(context)
  const onProgress = ({ records, total }: ReadProgress) => line.show({ done: records, total, unit: 'records' })
  const { now, environment } = context
  const result = await check(store, { repair, now, environment, onProgress })
  await line.end()
  const checked = orThrow(result)
  if (json) await context.out.writeJson(checked)
  else await printReport(checked, repair, context)
  return checked.isIntact ? exitCodes.ok : exitCodes.failed
}

async function printReport(report: StoreReport, isRepair: boolean, { out, err }: CliContext): Promise<void> {
  for (const finding of report.findings) {
    const { severity, code, subject: place, what } = finding
    await out.tell(`${severity}  ${code}  ${escapeLine(place)}  ${escapeLine(what)}${repairState(finding, isRepair)}`)
  }
  for (const line of report.messages) await out.tell(`note  ${escapeLine(line)}`)
  for (const loss of report.accepted) await out.tell(`lost  ${escapeLine(loss)}`)
  const { store, sessions, records, blobs, isIntact } = report
  const state = isIntact ? 'intact' : 'damaged'
  await err.tell(
    `${store} is ${state}: ${counted(sessions, 'session')}, ${counted(records, 'record')}, ${counted(blobs, 'file')}.`,
  )
}

function repairState(
  { severity, canRepair, loss, repaired }: StoreReport['findings'][number],
  isRepair: boolean,
): string {
  if (severity === 'info' && !canRepair) return ''
  if (severity === 'info') return repaired ? '  (moved to the quarantine)' : '  (--repair moves it to the quarantine)'
  if (repaired) return loss === null ? '  (repaired)' : '  (lost; the loss is accepted)'
  if (!canRepair) return '  (cannot be repaired)'
  if (isRepair) return '  (could not be repaired)'
  return loss === null ? '  (--repair repairs it)' : '  (--repair accepts the loss)'
}
