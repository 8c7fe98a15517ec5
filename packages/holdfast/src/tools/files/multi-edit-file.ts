import type { ToolContext } from '@holdfast/core/ports'
import { limits } from '@holdfast/protocol'
import { z } from 'zod'
import { filePathArgument, textArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { changeFile, placeOf } from './change/change-file.ts'
import { previewEdit } from './change/run-change.ts'

const input = z.strictObject({
  path: filePathArgument.describe('The file, relative to the working directory.'),
  edits: z
    .array(
      z.strictObject(
        {
          old_text: textArgument
            .min(1, 'must have an old_text that is not empty')
            .describe('The text to replace. Must occur exactly once in the file as the edits before have left it.'),
          new_text: textArgument.describe('The text that replaces it, written out in full.'),
        },
        { error: 'must be a list of objects with old_text and new_text' },
      ),
      { error: 'must be a list of objects with old_text and new_text' },
    )
    .min(1, 'must not be empty')
    .max(limits.editsMax, `must not have more than ${limits.editsMax} edits`)
    .describe('The edits, in order. Join changes of the same or neighbouring lines into one edit.'),
})

type EditArgs = z.infer<typeof input>

export const multiEditFileTool = defineTool({
  name: 'multi_edit_file',
  description:
    'Makes several edits in one text file of the working directory, one after the other: all or none. Each edit sees what those before it have left. Join changes of one line into one edit.',
  input,
  changes: 'something',
  preview: (args, context, signal) => previewEdit(editsOf(args, context), signal),
  run: whenBegun((args: EditArgs, context, run) => changeFile(editsOf(args, context), 'edited', run)),
})

const editsOf = ({ path, edits }: EditArgs, context: ToolContext) =>
  ({
    type: 'replace',
    path,
    ...placeOf(context),
    edits: edits.map(({ old_text: oldText, new_text: newText }) => ({ oldText, newText })),
  }) as const
