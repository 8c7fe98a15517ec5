import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { fault, ok, type Result, refuse } from '@holdfast/protocol'

const flags =
  constants.O_RDWR |
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_NOFOLLOW |
  constants.O_NONBLOCK | // should a pipe have taken the file's place, opening it must not wait for a reader
  constants.O_NOCTTY

export type Appending = {
  readonly line: string
  readonly shown: string
  /** The mode of a file that is not there yet. */
  readonly mode: number
  readonly bytesMax: number
}

/** Adds a line to the end of a file in one write, so that of two processes at once neither loses or splits a line. */
export async function appendLine(path: string, { line, shown, mode, bytesMax }: Appending): Promise<Result<null>> {
  await using handle = await open(path, flags, mode)
  const stats = await handle.stat()
  if (!stats.isFile()) return refuse(fault('bad_request', `${shown} is not a regular file`))
  const bytes = Buffer.from((await endsLine(handle, stats.size)) ? line : `\n${line}`)
  if (stats.size + bytes.length > bytesMax) return refuse(memoryFull(shown, bytesMax))
  const { bytesWritten } = await handle.write(bytes)
  if (bytesWritten !== bytes.length)
    return refuse(fault('storage_error', `only the first ${bytesWritten} bytes of the line were written to ${shown}`))
  await handle.sync()
  return ok(null)
}

export const memoryFull = (shown: string, bytesMax: number) =>
  fault('too_large', `${shown} may not grow beyond ${bytesMax} bytes; a person has to shorten it first`)

/** Whether a line can follow at once. What a person edited may end without a line feed. */
async function endsLine(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return true
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer.toString('latin1') === '\n'
}
