import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Result } from '@holdfast/protocol'
import { faultOf } from './ended.ts'
import type { Place } from './place.ts'

/** The workspace a directory stands for: its real path. One that is gone still names the sessions it had. */
export function workspaceOf({ cwd }: Pick<Place, 'cwd'>, directory = '.'): Result<string> {
  const here = currentDirectory({ cwd })
  if (!here.ok) return here
  const asked = resolve(here.value, directory)
  try {
    return { ok: true, value: realpathSync(asked) }
  } catch {
    return { ok: true, value: asked }
  }
}

export function currentDirectory({ cwd }: Pick<Place, 'cwd'>): Result<string> {
  try {
    return { ok: true, value: cwd() }
  } catch {
    return { ok: false, fault: faultOf('bad_workdir', 'The current directory no longer exists.') }
  }
}
