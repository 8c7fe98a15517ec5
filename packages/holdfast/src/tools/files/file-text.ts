import { constants } from 'node:buffer'
import { escapeLine, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { openFile } from '../../system/files/open-file.ts'

/** What is diffed and edited is held in memory whole, some times over. */
export const editedBytesMax = Math.min(limits.editedFileBytesMax, constants.MAX_STRING_LENGTH)

/** A file's text, exactly: written back unchanged it is the same bytes. Refused for what is no UTF-8 text, or too long. */
export async function readFileText(workdir: string, path: string): Promise<Result<string>> {
  const opened = await openFile(workdir, path)
  if (!opened.ok) return opened
  await using handle = opened.value.handle
  const { size } = opened.value.stats
  if (size > editedBytesMax)
    return refuse(
      fault('too_large', `${escapeLine(path)} has ${size} bytes; up to ${editedBytesMax} can be diffed or edited`),
    )
  const bytes = await handle.readFile()
  const text = bytes.toString('utf8') // keeps a byte-order mark, which TextDecoder would drop
  if (bytes.includes(0)) return refuse(fault('bad_request', `${escapeLine(path)} is binary (${size} bytes)`))
  if (!Buffer.from(text).equals(bytes)) return refuse(fault('bad_request', `${escapeLine(path)} is not valid UTF-8`))
  return ok(text)
}
