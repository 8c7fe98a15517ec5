import { setImmediate } from 'node:timers/promises'
import type { OwnPath, WorkspaceFiles } from '@holdfast/core/ports'
import { clip, escapeLine, type FileLines, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { openFile } from '../../system/files/open-file.ts'
import { decodeText } from '../edits/decode-text.ts'
import { bodyOf, type Lines, splitLinesInSlices } from '../edits/lines.ts'
import { readSmall, tooLongToEdit } from './io/file-content.ts'
import { refuseOwnReading } from './io/guarded-path.ts'

/** Creates the reader of lines for people. It refuses what `read_file` refuses, so that the page is no way around it. */
export const createReadLines =
  (ownPaths: readonly OwnPath[]): WorkspaceFiles['readLines'] =>
  async (workdir, { path, start = 0, limit }) => {
    const opened = await openFile(workdir, path)
    if (!opened.ok) return opened
    await using handle = opened.value.handle
    const own = await refuseOwnReading(opened.value.path, ownPaths)
    if (!own.ok) return own
    const bytes = await readSmall(handle)
    const { size } = opened.value.stats
    if (bytes === null) return refuse(tooLongToEdit(path, size))
    const decoded = await decodeText(bytes, setImmediate)
    if (decoded === null)
      return refuse(fault('bad_request', `${escapeLine(path)} is binary (${size} bytes) and is not shown.`))
    await setImmediate() // a file of many megabytes takes some milliseconds for each step
    return pageOf(opened.value.path.shown, await splitLinesInSlices(decoded.text, setImmediate), start, limit)
  }

function pageOf(path: string, lines: Lines, start: number, limit: number = limits.readFileLinesMax): Result<FileLines> {
  const { count: total } = lines
  if (start > 0 && start >= total)
    return refuse(fault('bad_request', `${escapeLine(path)} has ${total} lines: line ${start + 1} is past its end.`))
  const shown: string[] = []
  let bytes = 0
  for (let line = start; line < Math.min(total, start + Math.min(limit, limits.readFileLinesMax)); line++) {
    const body = clip(bodyOf(lines, line), limits.readLineCharsMax)
    bytes += Buffer.byteLength(body) + 1
    if (bytes > limits.readFileBytesMax && shown.length > 0) break
    shown.push(body)
  }
  const next = start + shown.length
  return ok({ path, start, lines: shown, total, next: next < total ? next : null })
}
