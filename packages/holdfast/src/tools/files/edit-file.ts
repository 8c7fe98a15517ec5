import type { ToolContext } from '@holdfast/core/ports'
import { z } from 'zod'
import { filePathArgument, textArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { changeFile, placeOf } from './change/change-file.ts'
import { previewEdit } from './change/run-change.ts'

const input = z.strictObject({
  path: filePathArgument.describe('The file, relative to the working directory.'),
  old_text: textArgument
    .min(1, 'must not be empty')
    .describe('The text to replace, as it is in the file. Whole lines are best. Must occur exactly once.'),
  new_text: textArgument.describe('The text that replaces it, written out in full.'),
  replace_all: z
    .boolean({ error: 'must be true or false' })
    .optional()
    .describe('Replace every occurrence of old_text. Default false.'),
})

type EditArgs = z.infer<typeof input>

export const editFileTool = defineTool({
  name: 'edit_file',
  description:
    'Replaces one passage of a text file of the working directory. old_text must occur exactly once, unless replace_all is set. Line ends and encoding stay as they are. The result shows the changed lines.',
  input,
  changes: 'something',
  preview: (args, context, signal) => previewEdit(editOf(args, context), signal),
  run: whenBegun((args: EditArgs, context, run) => changeFile(editOf(args, context), 'edited', run)),
})

const editOf = ({ path, old_text: oldText, new_text: newText, replace_all: all }: EditArgs, context: ToolContext) =>
  ({ type: 'replace', ...placeOf(context), path, edits: [{ oldText, newText, all }] }) as const
