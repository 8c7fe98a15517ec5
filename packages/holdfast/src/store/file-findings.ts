import type { Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { systemErrorCode } from '../system/system-error.ts'
import { type Finding, warning } from './finding.ts'

/** Whether others than its owner may reach a file or directory. */
export async function modeFindings(path: string): Promise<readonly Finding[]> {
  const { mode } = (await lookAt(path)) ?? { mode: 0 }
  if ((mode & 0o077) === 0) return []
  const what = `others may reach it (mode ${(mode & 0o777).toString(8)})`
  return [warning({ code: 'permissions', place: path, what })]
}

/** Null when it is gone: whoever has the store open writes and renames files while we look. */
export async function lookAt(path: string): Promise<Stats | null> {
  try {
    return await lstat(path)
  } catch (cause) {
    if (systemErrorCode(cause) === 'ENOENT') return null
    throw cause
  }
}

/** What a crash left half-made. */
export const unfinishedFile = (path: string): Finding =>
  warning({ code: 'unfinished_file', place: path, what: 'a file that was never finished' })
