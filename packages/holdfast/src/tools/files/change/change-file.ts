import type { ToolContext, ToolRun } from '@holdfast/core/ports'
import { escapeLine, ok, type Result } from '@holdfast/protocol'
import type { Done } from '../../define/define-tool.ts'
import { replaceFile } from '../io/replace-file.ts'
import type { ContentEdit } from './file-edit.ts'
import { contentAfter } from './run-change.ts'

/** Computes an edit, writes the file, and reports the changed lines. */
export async function changeFile(
  edit: ContentEdit,
  verb: string,
  { signal, contentHash, blobs }: ToolRun,
): Promise<Result<Done>> {
  // The call is bound to this content: it was seen by the model, or shown to a person after a change.
  const isBound = edit.type === 'write' && contentHash !== undefined
  const edited = await contentAfter(isBound ? { ...edit, seen: undefined } : edit, signal)
  if (!edited.ok) return edited
  const { parts, after, contentHash: found, before, report, seenLines, boundary } = edited.value
  const options = { signal, blobs, expected: contentHash ?? found, after, ...(before && { before }) }
  const written = await replaceFile(edit, edit.path, parts, options)
  if (!written.ok) return written
  const { change, note } = written.value
  const did = verb === 'wrote' && change.change === 'created' ? 'created' : verb
  const text = [`${did} ${escapeLine(change.path)} ${report}`, ...(note === null ? [] : [`[${note}]`])].join('\n')
  const seen =
    seenLines !== null && change.after
      ? [{ path: change.path, hash: change.after, from: 1, to: seenLines, of: seenLines }]
      : []
  // The lines of the boundary count in the new content from now on.
  const kept = boundary && blobs && { ...boundary, content: (await blobs.put(Buffer.concat(parts))).hash }
  return ok({ text, files: [{ ...change, ...(kept && { boundary: kept }) }], seen })
}

/** Returns the part of an edit that every call has. */
export const placeOf = ({ workdir, ownPaths, boundaries, seen }: ToolContext) => ({
  workdir,
  ownPaths,
  boundaries,
  seen,
})
