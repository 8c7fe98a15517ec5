import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Detected } from './detect.ts'
import type { ImportedConversation, Remark } from './parse/conversation.ts'
import type { Beside } from './parse/format.ts'
import { decode, parseLine, readLines } from './parse/read-lines.ts'

const besideBytesMax = 1024 * 1024

/** Reads a file that was recognised; what cannot be read of it is said, and left out. */
export async function readConversation(
  path: string,
  file: FileHandle,
  detected: Extract<Detected, { type: 'lines' | 'document' }>,
  remark: Remark,
): Promise<ImportedConversation> {
  if (detected.type === 'document') {
    const { bytes, isSalvaged } = detected.notes
    decode(bytes, null, remark)
    if (isSalvaged)
      remark(null, 'damaged_file', 'The file is cut or damaged; what stood whole at its beginning was kept.')
    return named(detected.format.parse(detected.value, remark), path)
  }
  const parser = await detected.format.parse(remark, besideOf(path))
  let place = 0
  for await (const lines of readLines(file, remark)) {
    for (const line of lines) {
      const value = parseLine(line, remark)
      if (value) parser.add(value, line.number, place)
      place++
    }
  }
  return named(parser.end(), path)
}

const besideOf =
  (path: string): Beside =>
  async (from, to) => {
    if (!path.endsWith(from)) return null
    const other = path.slice(0, -from.length) + to
    const size = await stat(other).then(
      (stats) => (stats.isFile() ? stats.size : 0),
      () => 0,
    )
    return size === 0 || size > besideBytesMax ? null : readFile(other, 'utf8')
  }

/** A file that does not say which session it is, is known by its name and its first message. */
function named(conversation: ImportedConversation, path: string): ImportedConversation {
  if (conversation.about.id !== undefined) return conversation
  const first = conversation.messages.find(({ role }) => role === 'user')
  const digest = createHash('sha256')
    .update(JSON.stringify([basename(path), first ?? null]))
    .digest('hex')
  return { ...conversation, about: { ...conversation.about, id: `file-${digest.slice(0, 32)}` } }
}
