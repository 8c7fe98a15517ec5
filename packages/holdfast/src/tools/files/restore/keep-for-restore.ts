import type { KeptForRestore, RestoreRun, WantedFile } from '@holdfast/core/ports'
import { ok } from '@holdfast/protocol'
import { foreseen } from '../../define/define-tool.ts'
import { checkRestore, type OwnPlace, refused } from './check-restore.ts'

/** Stores what is at a path if it may be put back as `wanted` says. Changes nothing. */
export async function keepForRestore(place: OwnPlace, wanted: WantedFile, run: RestoreRun): Promise<KeptForRestore> {
  const checked = await checkRestore(place, wanted).then(ok, foreseen)
  if (!checked.ok) return refused(checked.fault.message)
  if (checked.value.type !== 'ready') return checked.value
  const { target } = wanted
  if (target.type === 'file' && (await run.read(target.hash)) === null) return refused('its kept content is gone')
  const { state, bytes } = checked.value.current
  if (bytes) await run.put(bytes)
  return { type: 'kept', before: state }
}
