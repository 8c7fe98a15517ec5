import { fault, ok, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { holdsKey, keyMark } from '../../system/secrets/known-keys.ts'
import { filePathArgument, textArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { unifiedDiff } from './unified-diff.ts'
import { findWritable, readFileText, replaceFile } from './workspace-file.ts'

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

  async preview({ path, content }, { workdir }) {
    const found = await findWritable(workdir, path)
    if (!found.ok) return found
    const { path: resolved, stats } = found.value
    if (stats === null) return ok(diffPreview(resolved.shown, null, content))
    const before = await readFileText(workdir, path)
    // The model was shown a mark in place of a key that is in the file, and would write the mark over the key.
    if (before.ok && content.includes(keyMark) && holdsKey(before.value))
      return refuse(
        fault('bad_request', `${resolved.shown} holds a key that was shown as ${keyMark}: use edit_file for the rest`),
      )
    if (before.ok) return ok(diffPreview(resolved.shown, before.value, content))
    const whole = unifiedDiff({ path: resolved.shown, before: null, after: content })
    return ok({ type: 'diff', path: resolved.shown, diff: `Replaced whole: ${before.fault.message}.\n${whole}` })
  },

  run: whenBegun(async ({ path, content }: z.infer<typeof input>, { workdir }, signal) => {
    const written = await replaceFile(workdir, path, content, signal)
    if (!written.ok) return written
    const { change, path: shown } = written.value
    return ok({ text: `${change} ${shown}, ${Buffer.byteLength(content)} bytes`, files: [written.value] })
  }),
})

function diffPreview(path: string, before: string | null, after: string) {
  return { type: 'diff', path, diff: unifiedDiff({ path, before, after }) } as const
}
