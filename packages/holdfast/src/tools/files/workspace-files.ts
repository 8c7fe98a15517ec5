import type { OwnPath, WorkspaceFiles } from '@holdfast/core/ports'
import { escapeLine, fault, limits, ok, refuse } from '@holdfast/protocol'
import { openFile } from '../../system/files/open-file.ts'
import { resolvePath } from '../../system/files/resolve-path.ts'
import { foreseen } from '../define/define-tool.ts'
import { diffContents, judgeBounded } from './change/run-change.ts'
import { findName } from './io/workspace-file.ts'
import { createReadLines } from './read-lines.ts'
import { readCurrent } from './restore/check-restore.ts'
import { keepForRestore } from './restore/keep-for-restore.ts'
import { isBelowFile } from './restore/make-room.ts'
import { previewRestore } from './restore/preview-restore.ts'
import { restoreFile } from './restore/restore-file.ts'

/** Reads files of a workdir, for people who look at them or set edit boundaries. */
export const workspaceFiles: Pick<WorkspaceFiles, 'locate' | 'read'> = {
  async locate(workdir, path) {
    const resolved = await resolvePath(workdir, path)
    return resolved.ok ? ok(resolved.value.shown) : resolved
  },
  async read(workdir, path) {
    const resolved = await resolvePath(workdir, path)
    if (!resolved.ok) return resolved
    const opened = await openFile(workdir, path)
    if (!opened.ok) return opened
    await using handle = opened.value.handle
    const { size, mode } = opened.value.stats
    if (size > limits.editedFileBytesMax) {
      const message = `${escapeLine(path)} has ${size} bytes; up to ${limits.editedFileBytesMax} can be read`
      return refuse(fault('too_large', message, { bytes: size, limit: 'editedFileBytesMax' }))
    }
    return ok({ path: resolved.value.shown, bytes: await handle.readFile(), mode: mode & 0o7777 })
  },
}

/** Finds the lines of a boundary as an edit would, so that people see the lines that edits are judged by. */
const locateBoundary: WorkspaceFiles['locateBoundary'] = async (workdir, { path, start, end, counted }) => {
  const shown = escapeLine(path)
  const suspend = (why: string) => refuse(fault('outside_boundary', why, { path }))
  const again = 'Nothing may be changed until a person sets the boundary again.'
  const resolved = await resolvePath(workdir, path)
  if (resolved.ok && resolved.value.shown !== path)
    return suspend(`${shown} was replaced by a link to ${escapeLine(resolved.value.shown)}. ${again}`)
  const found = await workspaceFiles.read(workdir, path)
  if (!found.ok && found.fault.code === 'not_found')
    return suspend(`${shown} is gone. No tool may create it until a person puts it back or clears the boundary.`)
  if (!found.ok) return suspend(`${found.fault.message}. ${again}`)
  if (counted === null) return suspend(`The text that the lines of ${shown} were counted in is gone. ${again}`)
  const { bytes } = found.value
  const pair = { path, range: { start, end }, counted, before: bytes, after: bytes }
  const verdict = await judgeBounded(pair, new AbortController().signal)
  if ('range' in verdict) return ok(verdict.range)
  const why = verdict.violation.split('\n', 1)[0] ?? ''
  return suspend(why.endsWith('.') ? why : `${why}. ${again}`)
}

const noFile = { state: { type: 'absent' }, bytes: null } as const

/** Creates the access of a runtime to the files of a workdir. `ownPaths` are folders of Holdfast itself. */
export const createWorkspaceFiles = (ownPaths: readonly OwnPath[]): WorkspaceFiles => ({
  ...workspaceFiles,
  async look(workdir, path) {
    const found = await findName({ workdir, ownPaths }, path)
    if (!found.ok) return (await isBelowFile(workdir, path)) ? noFile : null
    if (found.value.shown !== path) return null
    if (found.value.stats?.isDirectory()) return noFile
    const read = await readCurrent(found.value).catch(foreseen)
    return read.ok ? read.value : null
  },
  diff: diffContents,
  readLines: createReadLines(ownPaths),
  locateBoundary,
  keepForRestore: (place, wanted, run) => keepForRestore({ ...place, ownPaths }, wanted, run),
  restore: (place, wanted, run) => restoreFile({ ...place, ownPaths }, wanted, run),
  previewRestore: (place, wanted, run) => previewRestore({ ...place, ownPaths }, wanted, run),
})
