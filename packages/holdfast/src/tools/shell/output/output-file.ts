import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensurePrivateDirectory } from '../../../system/files/private-directory.ts'

const readBytes = 64 * 1024

/**
 * The output of a command on disk. The file has no name: it is gone with the last process that holds it open, so that a
 * crash leaves nothing behind, and memory holds none of it.
 */
export interface OutputFile {
  /** Given to the command's process group to append to. */
  readonly fd: number
  size(): Promise<number>
  /** Reads the bytes from `start` up to `end`, or to the end of the file. */
  read(start: number, end?: number): AsyncGenerator<Buffer>
  close(): Promise<void>
}

/** Creates an output file in a private directory; without one, in the system's directory for temporary files. */
export async function createOutputFile(directory?: string): Promise<OutputFile> {
  if (directory !== undefined) ensurePrivateDirectory(directory)
  const path = join(directory ?? tmpdir(), `.output-${randomUUID()}`)
  const file = await open(path, 'ax+', 0o600) // appended to: two writers never overwrite each other
  try {
    await rm(path)
  } catch (error) {
    await file.close()
    throw error
  }
  return {
    fd: file.fd,
    size: async () => (await file.stat()).size,
    read: (start, end = Number.POSITIVE_INFINITY) => readPieces(file, start, end),
    close: () => file.close(),
  }
}

async function* readPieces(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let position = start; position < end; ) {
    const piece = Buffer.allocUnsafe(Math.min(readBytes, end - position))
    const { bytesRead } = await file.read(piece, 0, piece.length, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield piece.subarray(0, bytesRead)
  }
}
