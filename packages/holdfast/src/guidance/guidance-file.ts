import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { openFile } from '../system/files/open-file.ts'
import { systemErrorCode, systemErrorWords } from '../system/system-error.ts'

/** The beginning of a text file. */
export type GuidanceText = { readonly text: string; readonly isCut: boolean }

const fileBytesMax = 256 * 1024
const cachedMax = 5000

/** What is said of a longer file. */
export const tooLong = { line: null, message: `It has more than ${fileBytesMax} bytes; the rest is left out.` }

type ReadOptions = {
  readonly bytesMax?: number | undefined
  /** What a refusal calls the folder. */
  readonly folderName?: string | undefined
}

/**
 * Reads the beginning of a text file inside a folder. A link must stay in the folder. Refused: a file that is missing,
 * unreadable or not text.
 */
export async function readGuidanceText(
  folder: string,
  name: string,
  { bytesMax = fileBytesMax, folderName = 'its folder' }: ReadOptions = {},
): Promise<Result<GuidanceText>> {
  try {
    const opened = await openFile(folder, name)
    if (!opened.ok && opened.fault.code === 'outside_workdir')
      return refuse({ ...opened.fault, message: `${escapeLine(name)} is outside ${folderName}` })
    if (!opened.ok) return opened
    await using handle = opened.value.handle
    const { size } = opened.value.stats
    const length = Math.min(size, bytesMax)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0)
    const bytes = buffer.subarray(0, bytesRead)
    if (bytes.includes(0)) return refuse(fault('bad_request', `${name} is not text`))
    return ok({ text: bytes.toString('utf8'), isCut: size > bytesMax })
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return refuse(fault('bad_request', `${name} cannot be read: ${systemErrorWords(error)}`))
  }
}

/** Reads and parses files. One that has not changed since is neither read nor parsed again. */
export function createParsedFiles<Parsed>(parse: (file: GuidanceText, path: string) => Promise<Parsed>) {
  const known = new Map<string, { readonly stamp: string; readonly parsed: Parsed }>()
  return async (folder: string, name: string): Promise<Result<Parsed>> => {
    const path = join(folder, name)
    const stamp = await stampOf(path)
    const before = known.get(path)
    if (stamp !== null && before?.stamp === stamp) return ok(before.parsed)
    const file = await readGuidanceText(folder, name)
    if (!file.ok) return file
    const parsed = await parse(file.value, path)
    if (known.size >= cachedMax) known.clear()
    if (stamp !== null) known.set(path, { stamp, parsed })
    return ok(parsed)
  }
}

/** Identifies a state of a file; null for a link, whose target may change without it. */
async function stampOf(path: string): Promise<string | null> {
  try {
    const stats = await lstat(path, { bigint: true })
    return stats.isFile() ? [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join() : null
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return null
  }
}
