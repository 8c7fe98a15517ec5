import type { Dirent } from 'node:fs'
import { opendir, readlink } from 'node:fs/promises'
import type { ToolContext } from '@holdfast/core/ports'
import { escapeLine, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { type OpenDirectory, openDirectory } from '../../system/files/open-file.ts'
import { resolvePath } from '../../system/files/resolve-path.ts'
import { compareText, keepFirst } from '../../system/keep-first.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import { pathArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'
import { refuseOwnReading } from './io/guarded-path.ts'

const input = z.strictObject({
  path: pathArgument.describe('The directory, relative to the working directory; "." is the working directory itself.'),
})

export const listDirectoryTool = defineTool({
  name: 'list_directory',
  description: `Lists a directory of the working directory, one name a line, hidden ones too: directories end with /, links show their target. At most ${limits.directoryEntriesMax} names.`,
  input,
  changes: 'nothing',

  async preview(args, context) {
    const opened = await openListed(context, args.path)
    if (!opened.ok) return opened
    await opened.value[Symbol.asyncDispose]()
    return ok({ preview: { type: 'arguments', args } })
  },

  run: whenBegun(({ path }: z.infer<typeof input>, context, { signal }) => list(context, path, signal)),
})

async function openListed({ workdir, ownPaths }: ToolContext, path: string): Promise<Result<OpenDirectory>> {
  const resolved = await resolvePath(workdir, path)
  if (!resolved.ok) return resolved
  const own = await refuseOwnReading(resolved.value, ownPaths)
  if (!own.ok) return own
  const shown = escapeLine(path)
  if (resolved.value.missing.length > 0) return refuse(fault('not_found', `${shown} does not exist`))
  try {
    return await openDirectory(resolved.value.root, resolved.value.absolute)
  } catch (error) {
    if (systemErrorCode(error) === 'ENOTDIR') return refuse(fault('bad_request', `${shown} is not a directory`))
    throw error
  }
}

async function list(context: ToolContext, path: string, signal: AbortSignal): Promise<Result<{ text: string }>> {
  const opened = await openListed(context, path)
  if (!opened.ok) return opened
  await using directory = opened.value
  // By code unit: the same on every machine, whatever its locale, and whatever the order of its folders.
  const entries = keepFirst<Dirent>(limits.directoryEntriesMax, (one, other) => compareText(one.name, other.name))
  for await (const entry of await opendir(directory.at('.'))) {
    if (signal.aborted) return refuse(fault('bad_request', 'aborted'))
    entries.add(entry)
  }
  if (entries.count === 0) return ok({ text: `[${escapeLine(path)} is empty]` })
  const names: string[] = []
  for (const entry of entries.end()) names.push(await nameOf(directory, entry))
  const unlisted = entries.count - names.length
  if (unlisted > 0) names.push(`[${unlisted} more are not listed]`)
  return ok({ text: names.join('\n') })
}

async function nameOf(directory: OpenDirectory, entry: Dirent): Promise<string> {
  const name = escapeLine(entry.name) // a line feed in a name must not make two entries of one
  if (entry.isDirectory()) return `${name}/`
  if (!entry.isSymbolicLink()) return name
  const target = await readlink(directory.at(entry.name)).catch(() => null) // it may be gone
  return target === null ? name : `${name} -> ${escapeLine(target)}`
}
