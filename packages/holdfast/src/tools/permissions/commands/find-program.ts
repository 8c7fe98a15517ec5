import { constants } from 'node:fs'
import { access, realpath } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import type { CommandFacts } from './judge-command.ts'

/** Commands of the shell itself, which no file can replace. */
const builtins = new Set([
  ...['cd', 'echo', 'printf', 'pwd', 'test', '[', 'true', 'false', ':', 'type', 'umask', 'ulimit', 'wait', 'kill'],
  ...['exit', 'export', 'hash', 'jobs', 'read', 'set', 'shift', 'times', 'unset', 'alias', 'return', 'break'],
])

/**
 * Returns a function that finds out whether the shell finds a program outside the workdir: what the agent can write
 * could pretend to be any program.
 */
export function programsOutside(workdir: string, searchPath: string | undefined): CommandFacts['isOutside'] {
  return async (program) => {
    if (builtins.has(program)) return true
    for (const folder of (searchPath ?? '').split(':')) {
      if (!isAbsolute(folder)) return false // it depends on the folder that the command is in
      const real = await realpath(join(folder, program)).catch(() => null)
      if (real === null || !(await isExecutable(real))) continue
      const home = await realpath(folder)
      return isElsewhere(real, workdir) && isElsewhere(home, workdir)
    }
    return false
  }
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  )

const isElsewhere = (path: string, workdir: string): boolean => path !== workdir && !path.startsWith(`${workdir}${sep}`)
