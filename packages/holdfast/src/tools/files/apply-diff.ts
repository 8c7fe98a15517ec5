import type { ToolContext } from '@holdfast/core/ports'
import { z } from 'zod'
import { filePathArgument, textArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { changeFile, placeOf } from './change/change-file.ts'
import { previewEdit } from './change/run-change.ts'

const input = z.strictObject({
  path: filePathArgument.describe('The file, relative to the working directory.'),
  diff: textArgument
    .min(1, 'must not be empty')
    .describe(
      'A unified diff of this file. Lines to remove begin with -, lines to add with +, unchanged lines with a blank. Include about three unchanged lines around each change. Line numbers may be left out.',
    ),
})

type DiffArgs = z.infer<typeof input>

export const applyDiffTool = defineTool({
  name: 'apply_diff',
  description:
    'Applies a unified diff to one text file of the working directory: all hunks or none. Each hunk is found by its lines, not by its numbers, and must fit in exactly one place. Write out every line; no "...".',
  input,
  changes: 'something',
  preview: (args, context, signal) => previewEdit(patchOf(args, context), signal),
  run: whenBegun((args: DiffArgs, context, run) => changeFile(patchOf(args, context), 'patched', run)),
})

const patchOf = ({ path, diff }: DiffArgs, context: ToolContext) =>
  ({ type: 'patch', ...placeOf(context), path, diff }) as const
