import { unlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { escapeLine, type FileChange, fault, ok, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { filePathArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { placeOf } from './change/change-file.ts'
import { previewEdit } from './change/run-change.ts'
import { readEntry, toBefore } from './io/entry.ts'
import { oneByOneAt } from './io/path-queue.ts'
import { withSimilarNames } from './io/similar-names.ts'
import { findEntry, openParent } from './io/workspace-file.ts'

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
    const found = await findEntry(context, path)
    if (!found.ok) return found
    const { absolute, shown } = found.value.path
    return oneByOneAt(absolute, async () => {
      const opened = await openParent(found.value.path)
      if (!opened.ok) return opened
      await using parent = opened.value
      const name = basename(absolute)
      const entry = await readEntry(parent, name, shown)
      if (!entry.ok) return entry
      const before = await toBefore(entry.value, blobs)
      const now = await readEntry(parent, name, shown)
      if (!now.ok) return now
      if (now.value.contentHash !== (expected ?? entry.value.contentHash)) return refuse(changed(shown))
      if (signal.aborted) return refuse(fault('bad_request', 'aborted before anything was deleted'))
      await unlink(parent.at(name))
      await parent.sync()
      const change: FileChange = { path: shown, change: 'deleted', before }
      return ok({ text: `deleted ${escapeLine(shown)}`, files: [change] })
    })
  }),
})

const changed = (shown: string) =>
  fault('content_changed', `${escapeLine(shown)} changed after this call was prepared; nothing was deleted.`)
