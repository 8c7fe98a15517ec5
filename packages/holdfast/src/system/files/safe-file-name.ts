import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'

const fileNameBytesMax = 255

/** Returns the last part of a path, as some programs store the session title in it; a random name if it is not usable. */
export function safeFileName(name: string): string {
  const last = basename(name.replaceAll('\\', '/'))
  const isUsable = !/^[.]{0,2}$|\p{Cc}/u.test(last) && Buffer.byteLength(last) <= fileNameBytesMax
  return isUsable ? last : randomUUID()
}
