import type { ToolContext } from '@holdfast/core/ports'
import { z } from 'zod'
import { filePathArgument, textArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { changeFile, placeOf } from './change/change-file.ts'
import { previewEdit } from './change/run-change.ts'

const input = z.strictObject({
  path: filePathArgument.describe('The file, relative to the working directory. Missing directories are made.'),
  content: textArgument.describe('The whole new content of the file, written out in full.'),
})

type WriteArgs = z.infer<typeof input>

export const writeFileTool = defineTool({
  name: 'write_file',
  description:
    'Writes a file of the working directory whole, new or in place of the old. An existing file must have been read whole in this session. To change a part, use edit_file.',
  input,
  changes: 'something',
  preview: (args, context, signal) => previewEdit(writeOf(args, context), signal),
  run: whenBegun((args: WriteArgs, context, run) => changeFile(writeOf(args, context), 'wrote', run)),
})

const writeOf = ({ path, content }: WriteArgs, context: ToolContext) =>
  ({ type: 'write', ...placeOf(context), path, content }) as const
