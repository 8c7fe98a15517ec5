import type { Dirent } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { escapeLine, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { type OpenDirectory, openDirectory } from '../../system/files/open-file.ts'
import { resolvePath } from '../../system/files/resolve-path.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import { pathArgument } from '../define/arguments.ts'
import { defineTool, whenBegun } from '../define/define-tool.ts'

const input = z.strictObject({
  path: pathArgument.describe('The directory, relative to the working directory; "." is the working directory itself.'),
})

export const listDirectoryTool = defineTool({
  name: 'list_directory',
  description: 'Lists a directory of the working directory, one name a line: directories end with /, links with @.',
  input,
  changes: 'nothing',

  async preview(args, { workdir }) {
    const opened = await openListed(workdir, args.path)
    if (!opened.ok) return opened
    await opened.value[Symbol.asyncDispose]()
    return ok({ preview: { type: 'arguments', args } })
  },

  run: whenBegun(({ path }: z.infer<typeof input>, { workdir }, { signal }) => list(workdir, path, signal)),
})

async function openListed(workdir: string, path: string): Promise<Result<OpenDirectory>> {
  const resolved = await resolvePath(workdir, path)
  if (!resolved.ok) return resolved
  const shown = escapeLine(path)
  if (resolved.value.missing.length > 0) return refuse(fault('not_found', `${shown} does not exist`))
  try {
    return await openDirectory(resolved.value.root, resolved.value.absolute)
  } catch (error) {
    if (systemErrorCode(error) === 'ENOTDIR') return refuse(fault('bad_request', `${shown} is not a directory`))
    throw error
  }
}

async function list(workdir: string, path: string, signal: AbortSignal): Promise<Result<{ text: string }>> {
  const opened = await openListed(workdir, path)
  if (!opened.ok) return opened
  await using directory = opened.value
  const names: string[] = []
  let unlisted = 0
  for await (const entry of await opendir(directory.at('.'))) {
    if (signal.aborted) return refuse(fault('bad_request', 'aborted'))
    if (names.length < limits.directoryEntriesMax) names.push(nameOf(entry))
    else unlisted++
  }
  if (names.length === 0) return ok({ text: `[${escapeLine(path)} is empty]` })
  names.sort() // by code unit: the same on every machine, whatever its locale
  if (unlisted > 0) names.push(`[${unlisted} more are not listed]`)
  return ok({ text: names.join('\n') })
}

function nameOf(entry: Dirent): string {
  const name = escapeLine(entry.name) // a line feed in a name must not make two entries of one
  if (entry.isDirectory()) return `${name}/`
  return entry.isSymbolicLink() ? `${name}@` : name
}
