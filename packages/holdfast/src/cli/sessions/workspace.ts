import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import type { CliContext } from '../context/cli-context.ts'

/** The workspace a directory stands for: its real path. One that is gone still names the sessions it had. */
export function workspaceOf({ cwd }: Pick<CliContext, 'cwd'>, directory = '.'): Result<string> {
  const here = currentDirectory({ cwd })
  if (!here.ok) return here
  const asked = resolve(here.value, directory)
  try {
    return ok(realpathSync(asked))
  } catch {
    return ok(asked)
  }
}

export function currentDirectory({ cwd }: Pick<CliContext, 'cwd'>): Result<string> {
  try {
    return ok(cwd())
  } catch {
    return refuse(fault('bad_workdir', 'The current directory no longer exists.'))
  }
}
