import { fault, ok, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { filePathArgument, textArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { contentAfter, previewEdit } from './run-change.ts'
import { replaceFile } from './workspace-file.ts'

const input = z.strictObject({
  path: filePathArgument.describe('The file, relative to the working directory.'),
  old_text: textArgument
    .min(1, 'must not be empty')
    .describe('The text to replace, exactly as it is in the file, line ends included. Must occur exactly once.'),
  new_text: textArgument.describe('The text that replaces it.'),
})

type EditArgs = z.infer<typeof input>

export const editFileTool = defineTool({
  name: 'edit_file',
  description: 'Replaces one passage of a text file of the working directory. old_text must occur exactly once.',
  input,
  changes: 'something',

  async preview(args, { workdir }, signal) {
    const edit = editOf(args, workdir)
    if (!edit.ok) return edit
    return previewEdit(edit.value, signal)
  },

  run: whenBegun(async (args: EditArgs, { workdir }, { signal, contentHash }) => {
    const edit = editOf(args, workdir)
    if (!edit.ok) return edit
    const edited = await contentAfter(edit.value, signal)
    if (!edited.ok) return edited
    const { content, contentHash: found } = edited.value
    const written = await replaceFile(workdir, args.path, content, { signal, expected: contentHash ?? found })
    return written.ok ? ok({ text: `edited ${written.value.path}`, files: [written.value] }) : written
  }),
})

function editOf({ path, old_text: oldText, new_text: newText }: EditArgs, workdir: string) {
  if (oldText === newText)
    return refuse(fault('bad_request', 'old_text and new_text are the same: nothing would change'))
  return ok({ type: 'replace', workdir, path, oldText, newText } as const)
}
