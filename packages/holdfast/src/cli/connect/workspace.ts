import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import type { CliContext } from '../terminal/cli-context.ts'

/** Returns the workspace of a directory: its real path. A removed directory keeps its path, and so its sessions. */
export function resolveWorkspace({ cwd }: Pick<CliContext, 'cwd'>, directory = '.'): Result<string> {
  const path = resolvePath({ cwd }, directory)
  if (!path.ok) return path
  try {
    return ok(realpathSync(path.value))
  } catch {
    return path
  }
}

/** Resolves a path against the current directory. */
export function resolvePath({ cwd }: Pick<CliContext, 'cwd'>, path: string): Result<string> {
  try {
    return ok(resolve(cwd(), path))
  } catch {
    return refuse(fault('bad_workdir', 'The current directory no longer exists. Change to another one.'))
  }
}
