import { escapeLine, limits, ok } from '@holdfast/protocol'
import { z } from 'zod'
import { openFile } from '../../system/files/open-file.ts'
import { type LineRange, readRange } from '../../system/files/read-range.ts'
import { countArgument, filePathArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'

const input = z.strictObject({
  path: filePathArgument.describe('The file, relative to the working directory.'),
  offset: countArgument.optional().describe('The first line to read, counted from 1. Default 1.'),
  limit: countArgument.optional().describe('How many lines to read at most. Default: all.'),
})

type ReadArgs = z.infer<typeof input>

export const readFileTool = defineTool({
  name: 'read_file',
  description: `Reads a text file of the working directory, whole or some lines of it. At most ${limits.readFileBytesMax} bytes at a time; a longer file is read on with offset.`,
  input,
  changes: 'nothing',

  async preview(args, { workdir }) {
    const opened = await openFile(workdir, args.path)
    if (!opened.ok) return opened
    await opened.value.handle.close()
    return ok({ preview: { type: 'arguments', args } })
  },

  run: whenBegun(async (args: ReadArgs, { workdir }, { signal }) => {
    const opened = await openFile(workdir, args.path)
    if (!opened.ok) return opened
    await using handle = opened.value.handle
    const { offset = 1, limit: lines = Number.MAX_SAFE_INTEGER } = args
    const read = await readRange(handle, { offset, lines, bytesMax: limits.readFileBytesMax, signal })
    return ok(answerOf(args, read, opened.value.stats.size))
  }),
})

function answerOf({ path, offset = 1 }: ReadArgs, { bytes, nextLine, end }: LineRange, size: number) {
  const shown = escapeLine(path)
  if (end === 'aborted') return { isFailed: true, text: 'aborted' }
  if (bytes.includes(0)) return { isFailed: true, text: `${shown} is binary (${size} bytes) and is not shown` }
  if (end === 'file' && bytes.length === 0) {
    if (offset === 1) return { text: `[${shown} is empty]` }
    return { isFailed: true, text: `${shown} ends before line ${offset}: it has ${nextLine - 1} line feeds` }
  }
  const notes: string[] = []
  const text = bytes.toString('utf8')
  if (!Buffer.from(text).equals(bytes))
    notes.push('some bytes are not valid UTF-8 and are shown as \ufffd: do not write this text back')
  if (end === 'lines') notes.push(`the file goes on: read on with offset ${nextLine}`)
  if (end === 'bytes') {
    const last = text.endsWith('\n') ? '' : `line ${nextLine - 1} is longer than that and is cut; `
    notes.push(`cut at ${limits.readFileBytesMax} of ${size} bytes: ${last}read on with offset ${nextLine}`)
  }
  if (notes.length === 0) return { text }
  return { text: `${text}${text.endsWith('\n') ? '' : '\n'}[${notes.join('; ')}]` }
}
