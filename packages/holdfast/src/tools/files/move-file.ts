import { basename } from 'node:path'
import { escapeLine, type FileChange, fault, ok, type Result, refuse, renameHeads } from '@holdfast/protocol'
import { z } from 'zod'
import type { WorkspacePath } from '../../system/files/resolve-path.ts'
import { filePathArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { hashBytes } from './io/before-image.ts'
import { readEntry, toBefore } from './io/entry.ts'
import { hashContent, hashLink } from './io/file-content.ts'
import { oneByOneAt } from './io/path-queue.ts'
import { moveHere } from './io/replace-file.ts'
import { withSimilarNames } from './io/similar-names.ts'
import { findEntry, findName, findReason, openParent, type Place } from './io/workspace-file.ts'

const input = z.strictObject({
  path: filePathArgument.describe('The file, relative to the working directory. Of a link, the link itself is moved.'),
  new_path: filePathArgument.describe('Its new path. Nothing may exist there. Missing directories are made.'),
})

type MoveArgs = z.infer<typeof input>

export const moveFileTool = defineTool({
  name: 'move_file',
  description:
    'Moves or renames one file or link of the working directory. Never overwrites; directories are not moved.',
  input,
  changes: 'something',

  async preview(args, context) {
    const found = await findMove(args, context)
    if (!found.ok) return refuse(await withSimilarNames(found.fault, context.workdir, args.path))
    const { from, to, alwaysAsk } = found.value
    const opened = await openParent(from)
    if (!opened.ok) return opened
    await using parent = opened.value
    const entry = await readEntry(parent, basename(from.absolute), from.shown)
    if (!entry.ok) return entry
    const diff = renameHeads(from.shown, to.shown)
    const { contentHash } = entry.value
    return ok({
      preview: { type: 'diff', path: to.shown, diff },
      contentHash,
      ...(alwaysAsk !== null && { alwaysAsk }),
    })
  },

  run: whenBegun(async (args: MoveArgs, context, { signal, contentHash: expected, blobs }) => {
    const found = await findMove(args, context)
    if (!found.ok) return found
    const { from, to } = found.value
    return oneByOneAt(from.absolute, async () => {
      const [opened, target] = [await openParent(from), await openParent(to)]
      if (!opened.ok) return opened
      await using parent = opened.value
      if (!target.ok) return target
      await using newParent = target.value
      const entry = await readEntry(parent, basename(from.absolute), from.shown)
      if (!entry.ok) return entry
      if (expected !== undefined && entry.value.contentHash !== expected) return refuse(changed(from.shown))
      const before = await toBefore(entry.value, blobs)
      if (signal.aborted) return refuse(fault('bad_request', 'aborted before anything was moved'))
      const isMoved = await moveHere(parent.at(basename(from.absolute)), newParent.at(basename(to.absolute)), true)
      if (!isMoved) return refuse(taken(to.shown))
      await newParent.sync()
      await parent.sync()
      const bytes = entry.value.type === 'file' ? entry.value.bytes : null
      const hash =
        entry.value.type === 'link' ? hashLink(to.shown, entry.value.target) : bytes && hashContent(to.shown, bytes)
      const change: FileChange = {
        path: to.shown,
        change: 'moved',
        from: from.shown,
        before,
        ...(hash && { contentHash: hash }),
        ...(bytes && { after: hashBytes(bytes) }),
        ...(entry.value.type === 'file' && { mode: entry.value.mode & 0o7777 }),
      }
      const seen = context.seen?.find((file) => file.path === from.shown)
      const known = (seen?.ranges ?? []).map(([first, last]) => ({ from: first, to: last, of: seen?.of ?? 0 }))
      const lines = seen ? known.map((range) => ({ path: to.shown, hash: seen.hash, ...range })) : []
      return ok({ text: `moved ${escapeLine(from.shown)} to ${escapeLine(to.shown)}`, files: [change], seen: lines })
    })
  }),
})

const changed = (shown: string) =>
  fault('content_changed', `${escapeLine(shown)} changed after this call was prepared; nothing was moved.`)

const taken = (shown: string) =>
  fault('bad_request', `${escapeLine(shown)} exists already, and move_file never overwrites. Choose another new_path.`)

type Move = { readonly from: WorkspacePath; readonly to: WorkspacePath; readonly alwaysAsk: string | null }

/** Checks both ends of a move. */
async function findMove({ path, new_path: newPath }: MoveArgs, place: Place): Promise<Result<Move>> {
  const found = await findEntry(place, path)
  if (!found.ok) return found
  const target = await findName(place, newPath)
  if (!target.ok) return target
  if (target.value.missing.length === 0) return refuse(taken(target.value.shown))
  const alwaysAsk = found.value.alwaysAsk ?? (await findReason(target.value))
  return ok({ from: found.value.path, to: target.value, alwaysAsk })
}
