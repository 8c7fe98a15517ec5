import { dirname, isAbsolute, join } from 'node:path'
import type { PreviewedRestore, RestoreRun, WantedFile } from '@holdfast/core/ports'
import { escapeLine, type FileState, ok, withoutSetId } from '@holdfast/protocol'
import { resolvePath } from '../../../system/files/resolve-path.ts'
import { foreseen } from '../../define/define-tool.ts'
import { diffContents } from '../change/run-change.ts'
import { findName } from '../io/workspace-file.ts'
import { checkRestore, type OwnPlace, readCurrent, refused } from './check-restore.ts'

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
  const { state, bytes } = checked.current
  const kept = target.type === 'file' ? await read(target.hash) : null
  if (target.type === 'file' && kept === null) return refused('its kept content is gone')
  // A link has the content that it leads to: to show the whole file as added or removed would say that the text changes.
  const before = state.type === 'link' && kept !== null ? await readThrough(place, path) : bytes
  const after = target.type === 'link' && bytes !== null ? await readThrough(place, targetOf(path, target)) : kept
  const heads = headOf(path, state, target)
  const isSame = before !== null && after !== null && Buffer.compare(before, after) === 0
  const diff = isSame ? '' : await diffContents({ path, before, after }, signal)
  return { type: 'restored', before: state, diff: `${heads}${diff}` }
}

const targetOf = (path: string, { target }: Extract<FileState, { readonly type: 'link' }>): string =>
  isAbsolute(target) ? target : join(dirname(path), target)

/** Returns the content of the file that a path leads to; null if there is none in the workdir that tools may read. */
async function readThrough({ workdir, ownPaths }: OwnPlace, path: string): Promise<Uint8Array | null> {
  const resolved = await resolvePath(workdir, path)
  const found = resolved.ok ? await findName({ workdir, ownPaths }, resolved.value.shown) : resolved
  if (!found.ok) return null
  const content = await readCurrent(found.value).catch(foreseen)
  return content.ok ? (content.value?.bytes ?? null) : null
}

/** Says what a diff of bytes does not show: links and permission bits. */
function headOf(path: string, before: FileState, after: FileState): string {
  const lines: string[] = []
  if (before.type === 'link') lines.push(`removes the link ${escapeLine(path)} -> ${escapeLine(before.target)}`)
  if (before.type === 'link' && after.type === 'file') lines.push(`puts a file at ${escapeLine(path)}`)
  if (before.type === 'file' && after.type === 'link') lines.push(`removes the file ${escapeLine(path)}`)
  if (after.type === 'link') lines.push(`makes the link ${escapeLine(path)} -> ${escapeLine(after.target)}`)
  if (before.type === 'file' && after.type === 'file' && before.mode !== withoutSetId(after.mode))
    lines.push(`old mode ${before.mode.toString(8)}`, `new mode ${withoutSetId(after.mode).toString(8)}`)
  return lines.map((line) => `${line}\n`).join('')
}
