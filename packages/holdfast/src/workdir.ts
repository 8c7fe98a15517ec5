import { realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fault, ok, type Result, refuse } from '@holdfast/protocol'

/** The real path of a directory: symlinks resolved, trailing slash gone. It names the session's workspace. */
export async function resolveWorkdir(path: string): Promise<Result<string>> {
  const asked = resolve(path)
  try {
    const real = await realpath(asked)
    if ((await stat(real)).isDirectory()) return ok(real)
    return refuse(fault('bad_workdir', `${asked} is not a directory.`, { workdir: asked }))
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : null
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be used (${code})`
    return refuse(fault('bad_workdir', `The workdir ${asked} ${why}.`, { workdir: asked }))
  }
}
