import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { filePathArgument, textArgument } from '../define/arguments.ts'
import { abortedResult, begun } from '../define/begin.ts'
import { defineTool, failedWith, foreseen } from '../define/define-tool.ts'
import { findWritable, replaceFile } from '../workspace/replace-file.ts'
import { readFileText } from './file-text.ts'
import { replaceOnce } from './replace-once.ts'
import { unifiedDiff } from './unified-diff.ts'

const input = z.strictObject({
  path: filePathArgument.describe('The file, relative to the working directory.'),
  old_text: textArgument
    .min(1, 'must not be empty')
    .describe('The text to replace, exactly as it stands in the file, line ends included. Must occur exactly once.'),
  new_text: textArgument.describe('What stands there afterwards.'),
})

type EditArgs = z.infer<typeof input>

export const editFileTool = defineTool({
  name: 'edit_file',
  description: 'Replaces one passage of a text file of the working directory. old_text must occur exactly once.',
  input,
  changes: 'something',

  async preview(args, { workdir }) {
    const edited = await edit(args, workdir)
    if (!edited.ok) return edited
    return ok({ type: 'diff', path: edited.value.path, diff: unifiedDiff(edited.value) })
  },

  async run(args, { workdir }, run) {
    if (!(await begun(run))) return abortedResult
    const edited = await edit(args, workdir).catch(foreseen)
    if (!edited.ok) return failedWith(edited.fault)
    const written = await replaceFile(workdir, args.path, edited.value.after, run).catch(foreseen)
    if (!written.ok) return failedWith(written.fault)
    return { type: 'ok', output: { text: `edited ${written.value.path}` }, files: [written.value] }
  },
})

type Edited = { readonly path: string; readonly before: string; readonly after: string }

async function edit({ path, old_text, new_text }: EditArgs, workdir: string): Promise<Result<Edited>> {
  if (old_text === new_text)
    return refuse(fault('bad_request', 'old_text and new_text are the same: nothing would change'))
  const found = await findWritable(workdir, path)
  if (!found.ok) return found
  const before = await readFileText(workdir, path)
  if (!before.ok) return before
  const after = replaceOnce(before.value, { oldText: old_text, newText: new_text })
  if (!after.ok) return after
  return ok({ path: found.value.place.shown, before: before.value, after: after.value })
}
