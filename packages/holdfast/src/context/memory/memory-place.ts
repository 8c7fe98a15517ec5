import { mkdir, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import { type OpenDirectory, openDirectory } from '../../system/files/open-directory.ts'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { resolvePath, type WorkspacePath } from '../../system/files/resolve-path.ts'
import { systemErrorCode } from '../../system/system-error.ts'

export type MemoryScope = 'user' | 'workspace'

export const workspaceFolder = '.holdfast'
export const workspaceFile = `${workspaceFolder}/MEMORY.md`

export type Whose = { readonly scope: MemoryScope; readonly workdir: string; readonly userFile: string }

/** Where a memory is written. A workspace may come from strangers, so no link of its is followed; the user's own are. */
export function findPlace({ scope, workdir, userFile }: Whose): Promise<Result<WorkspacePath>> {
  return scope === 'user' ? findUserPlace(userFile) : findWorkspacePlace(workdir)
}

async function findWorkspacePlace(workdir: string): Promise<Result<WorkspacePath>> {
  const place = await resolvePath(workdir, workspaceFile)
  if (!place.ok || place.value.shown === workspaceFile) return place
  return refuse(fault('bad_request', `${workspaceFile} is reached by a link, and memory is not written through one`))
}

async function findUserPlace(userFile: string): Promise<Result<WorkspacePath>> {
  const real = await realpath(userFile).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error
  })
  const absolute = real ?? userFile
  const missing = real === null ? [basename(userFile)] : []
  return ok({ root: dirname(absolute), absolute, shown: userFile, missing })
}

/** The directory of a memory, made if it is not there: the user's for them alone, the workspace's as any other of it. */
export async function openPlace(scope: MemoryScope, { root, absolute, missing }: WorkspacePath) {
  if (missing.length === 0) return openDirectory(root, dirname(absolute))
  if (scope === 'workspace')
    return missing.length > 1 ? makeWorkspaceFolder(root) : openDirectory(root, dirname(absolute))
  ensurePrivateDirectory(root)
  const real = await realpath(root)
  return openDirectory(real, real)
}

async function makeWorkspaceFolder(root: string): Promise<Result<OpenDirectory>> {
  const opened = await openDirectory(root, root)
  if (!opened.ok) return opened
  await using directory = opened.value
  await mkdir(directory.at(workspaceFolder)).catch((error: unknown) => {
    if (systemErrorCode(error) !== 'EEXIST') throw error // another call made it meanwhile; opening it checks what it is
  })
  await directory.sync()
  return openDirectory(root, join(root, workspaceFolder))
}
