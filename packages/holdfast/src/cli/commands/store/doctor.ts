import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { StoreReport } from '../../../admin/doctor/check-store.ts'
import type { ArgsOf } from '../../args/command-specs.ts'
import type { CliContext } from '../../context/cli-context.ts'
import { diskStoreOf } from '../../sessions/resolve-store.ts'
import { type Ended, ended, exitCodes, refused } from '../../terminal/exit.ts'
import { toJsonText } from '../../terminal/json-text.ts'

/** Looks through a whole store, and with --repair mends what can be mended. */
export async function doctor({ flags }: ArgsOf<'doctor'>, place: CliContext): Promise<Ended> {
  const store = diskStoreOf(place)
  if (!store.ok) return refused(store.fault)
  const { check } = await import('../../../admin/doctor/check-store.ts')
  const checked = await check(store.value, { repair: flags.repair, now: place.now })
  if (!checked.ok) return refused(checked.fault)
  if (flags.json) await place.out.write(`${toJsonText(checked.value)}\n`)
  else await tell(checked.value, flags.repair, place)
  return ended(checked.value.isSound ? exitCodes.ok : exitCodes.failed)
}

async function tell(report: StoreReport, isRepair: boolean, { out, err }: CliContext): Promise<void> {
  for (const finding of report.findings) {
    const { severity, code, place, what } = finding
    await out.write(`${severity}  ${code}  ${escapeLine(place)}  ${escapeLine(what)}${outlook(finding, isRepair)}\n`)
  }
  for (const line of report.told) await out.write(`note  ${escapeLine(line)}\n`)
  for (const loss of report.accepted) await out.write(`lost  ${escapeLine(loss)}\n`)
  const { store, sessions, records, blobs, isSound } = report
  const sum = isSound ? 'sound' : 'not sound'
  await err.write(`${store} is ${sum}: ${sessions} sessions, ${records} records, ${blobs} files.\n`)
}

function outlook({ severity, canMend, loss, mended }: StoreReport['findings'][number], isRepair: boolean): string {
  if (severity === 'info') return ''
  if (mended) return loss === null ? '  (mended)' : '  (lost for good, and accepted)'
  if (!canMend) return '  (cannot be mended)'
  if (isRepair) return '  (could not be mended)'
  return loss === null ? '  (--repair mends it)' : '  (--repair accepts the loss)'
}
