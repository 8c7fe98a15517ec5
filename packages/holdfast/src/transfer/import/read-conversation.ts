import { createHash } from 'node:crypto'
import { type FileHandle, readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Detected } from './detect.ts'
import type { ImportedConversation, Remark } from './parse/conversation.ts'
import type { ReadCompanionFile } from './parse/format.ts'
import { decode, parseLine, readLines } from './parse/read-lines.ts'

const companionBytesMax = 1024 * 1024

/** Reads a file of a known format. Unreadable parts are left out, with a remark. */
export async function readConversation(
  path: string,
  file: FileHandle,
  detected: Extract<Detected, { type: 'lines' | 'document' }>,
  remark: Remark,
): Promise<ImportedConversation> {
  if (detected.type === 'document') {
    const { bytes, isRepaired } = detected.notes
    decode(bytes, null, remark)
    if (isRepaired)
      remark(null, 'damaged_file', 'The file is truncated or damaged; its readable beginning was imported.')
    return withId(detected.format.parse(detected.value, remark), path)
  }
  const parser = await detected.format.parse(remark, createCompanionReader(path))
  let index = 0
  for await (const lines of readLines(file, remark)) {
    for (const line of lines) {
      const value = parseLine(line, remark)
      if (value) parser.add(value, line.number, index)
      index++
    }
  }
  return withId(parser.end(), path)
}

const createCompanionReader =
  (path: string): ReadCompanionFile =>
  async (from, to) => {
    if (!path.endsWith(from)) return null
    const other = path.slice(0, -from.length) + to
    const size = await stat(other).then(
      (stats) => (stats.isFile() ? stats.size : 0),
      () => 0,
    )
    return size === 0 || size > companionBytesMax ? null : readFile(other, 'utf8')
  }

/** Adds an id, derived from the file name and the first message, to a conversation without one. */
function withId(conversation: ImportedConversation, path: string): ImportedConversation {
  if (conversation.about.id !== undefined) return conversation
  const first = conversation.messages.find(({ role }) => role === 'user')
  const digest = createHash('sha256')
    .update(JSON.stringify([basename(path), first ?? null]))
    .digest('hex')
  return { ...conversation, about: { ...conversation.about, id: `file-${digest.slice(0, 32)}` } }
}
