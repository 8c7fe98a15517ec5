import { ok } from '@holdfast/protocol'
import { z } from 'zod'
import { filePathArgument, textArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { previewEdit } from './run-change.ts'
import { replaceFile } from './workspace-file.ts'

const input = z.strictObject({
  path: filePathArgument.describe('The file, relative to the working directory. Missing directories are made.'),
  content: textArgument.describe('The whole new content of the file.'),
})

export const writeFileTool = defineTool({
  name: 'write_file',
  description:
    'Writes a file of the working directory whole, new or in place of the old. To change a part, use edit_file.',
  input,
  changes: 'something',

  async preview({ path, content }, { workdir }, signal) {
    return previewEdit({ type: 'write', workdir, path, content }, signal)
  },

  run: whenBegun(async ({ path, content }: z.infer<typeof input>, { workdir }, { signal, contentHash }) => {
    const written = await replaceFile(workdir, path, content, { signal, expected: contentHash })
    if (!written.ok) return written
    const { change, path: shown } = written.value
    return ok({ text: `${change} ${shown}, ${Buffer.byteLength(content)} bytes`, files: [written.value] })
  }),
})
