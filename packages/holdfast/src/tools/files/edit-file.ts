import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { filePathArgument, textArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { type Change, unifiedDiff } from './unified-diff.ts'
import { findWritable, readFileText, replaceFile } from './workspace-file.ts'

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

  run: whenBegun(async (args: EditArgs, { workdir }, signal) => {
    const edited = await edit(args, workdir)
    if (!edited.ok) return edited
    const written = await replaceFile(workdir, args.path, edited.value.after, signal)
    return written.ok ? ok({ text: `edited ${written.value.path}`, files: [written.value] }) : written
  }),
})

async function edit({ path, old_text, new_text }: EditArgs, workdir: string): Promise<Result<Change>> {
  if (old_text === new_text)
    return refuse(fault('bad_request', 'old_text and new_text are the same: nothing would change'))
  const found = await findWritable(workdir, path)
  if (!found.ok) return found
  const before = await readFileText(workdir, path)
  if (!before.ok) return before
  const after = replaceOnce(before.value, { oldText: old_text, newText: new_text })
  if (!after.ok) return after
  return ok({ path: found.value.path.shown, before: before.value, after: after.value })
}

const linesListedMax = 10

type Replacement = { readonly oldText: string; readonly newText: string }

/** Replaces the only occurrence of `oldText`. If there is not exactly one, the fault says how many and where. */
export function replaceOnce(text: string, { oldText, newText }: Replacement): Result<string> {
  const first = text.indexOf(oldText)
  if (first === -1) return refuse(fault('bad_request', `old_text is not found${hintOf(text, oldText)}`))
  const second = text.indexOf(oldText, first + 1) // overlapping matches count too: they are just as ambiguous
  if (second === -1) return ok(text.slice(0, first) + newText + text.slice(first + oldText.length))
  const { count, lines } = findOccurrences(text, oldText)
  const where = `${lines.join(', ')}${count > lines.length ? ', …' : ''}`
  return refuse(
    fault('bad_request', `old_text is found ${count} times, at lines ${where}; give more of what stands around it`),
  )
}

function findOccurrences(text: string, oldText: string): { readonly count: number; readonly lines: readonly number[] } {
  const lines: number[] = []
  let count = 0
  let line = 1
  let counted = 0
  for (let at = text.indexOf(oldText); at !== -1; at = text.indexOf(oldText, at + 1)) {
    count++
    if (lines.length === linesListedMax) continue
    for (; counted < at; counted++) if (text[counted] === '\n') line++
    lines.push(line)
  }
  return { count, lines }
}

/** Returns a hint for the two most common mistakes of models. */
function hintOf(text: string, oldText: string): string {
  if (text.includes('\r\n') && oldText.includes('\n') && text.replaceAll('\r\n', '\n').includes(oldText))
    return '; the lines of this file end with \\r\\n, those of old_text with \\n'
  const trimmed = oldText.trim()
  if (trimmed !== '' && trimmed !== oldText && text.includes(trimmed))
    return '; without the blanks around it, it would be found'
  return '; it must be the same character for character'
}
