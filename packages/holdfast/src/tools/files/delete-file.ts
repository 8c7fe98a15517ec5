import { escapeLine, ok, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { filePathArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { placeOf } from './change/change-file.ts'
import { previewEdit } from './change/run-change.ts'
import { removeEntry } from './io/remove-entry.ts'
import { withSimilarNames } from './io/similar-names.ts'

const input = z.strictObject({
  path: filePathArgument.describe(
    'The file, relative to the working directory. Of a link, the link itself is deleted.',
  ),
})

export const deleteFileTool = defineTool({
  name: 'delete_file',
  description: 'Deletes one file or link of the working directory. Directories are not deleted.',
  input,
  changes: 'something',

  async preview({ path }, context, signal) {
    const found = await previewEdit({ type: 'delete', ...placeOf(context), path }, signal)
    return found.ok ? found : refuse(await withSimilarNames(found.fault, context.workdir, path))
  },

  run: whenBegun(async ({ path }: z.infer<typeof input>, context, { signal, contentHash: expected, blobs }) => {
    const removed = await removeEntry(context, path, { signal, blobs, expected })
    return removed.ok ? ok({ text: `deleted ${escapeLine(removed.value.path)}`, files: [removed.value] }) : removed
  }),
})
