import { realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { systemErrorCode, systemErrorWords } from '../system-error.ts'

/** The real path of a directory: symlinks resolved, trailing slash gone. It names the session's workspace. */
export async function resolveWorkdir(path: string): Promise<Result<string>> {
  const asked = resolve(path)
  const unusable = (why: string) =>
    refuse(fault('bad_workdir', `The workdir ${escapeLine(asked)} ${why}.`, { workdir: asked }))
  try {
    const real = await realpath(asked)
    return (await stat(real)).isDirectory() ? ok(real) : unusable('is not a directory')
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === null) return unusable('is no path') // one with a NUL in it never reaches the system
    return unusable(code === 'ENOENT' ? 'does not exist' : `cannot be used: ${systemErrorWords(error)}`)
  }
}
