import type { PreviewedRestore, RestoreRun, WantedFile } from '@holdfast/core/ports'
import { escapeLine, type FileState, ok, withoutSetId } from '@holdfast/protocol'
import { foreseen } from '../../define/define-tool.ts'
import { diffContents } from '../change/run-change.ts'
import { checkRestore, type OwnPlace, refused } from './check-restore.ts'

/** Returns what `restoreFile` would do now, with a diff from now to then. Changes nothing. */
export async function previewRestore(
  place: OwnPlace,
  wanted: WantedFile,
  { read, signal }: Omit<RestoreRun, 'put'>,
): Promise<PreviewedRestore> {
  const { path, target } = wanted
  const looked = await checkRestore(place, wanted).then(ok, foreseen)
  if (!looked.ok) return refused(looked.fault.message)
  const { value: checked } = looked
  if (checked.type !== 'ready') return checked
  const { state, bytes: before } = checked.current
  const after = target.type === 'file' ? await read(target.hash) : null
  if (target.type === 'file' && after === null) return refused('its kept content is gone')
  const heads = headOf(path, state, target)
  const diff = await diffContents({ path, before, after }, signal)
  return { type: 'restored', before: state, diff: `${heads}${diff}` }
}

/** Says what a diff of bytes does not show: links and permission bits. */
function headOf(path: string, before: FileState, after: FileState): string {
  const lines: string[] = []
  if (before.type === 'link') lines.push(`removes the link ${escapeLine(path)} -> ${escapeLine(before.target)}`)
  if (after.type === 'link') lines.push(`makes the link ${escapeLine(path)} -> ${escapeLine(after.target)}`)
  if (before.type === 'file' && after.type === 'file' && before.mode !== withoutSetId(after.mode))
    lines.push(`old mode ${before.mode.toString(8)}`, `new mode ${withoutSetId(after.mode).toString(8)}`)
  return lines.map((line) => `${line}\n`).join('')
}
