import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { tighten } from '../../../system/files/private-directory.ts'
import { syncDirectorySync } from '../../../system/files/sync-directory.ts'
import { draftMark, temporaryPath } from '../../temporary-path.ts'

/**
 * Leaves a whole copy of a store at `to`, as it stands when this begins: built under another name, synced, renamed. What
 * stood there before is replaced. `copied` is told between the two.
 */
export function backUpStore(from: string, to: string, copied: () => void): void {
  const drafts = `${basename(to)}${draftMark}`
  // Whoever calls is alone at it: these are of processes that died.
  for (const name of readdirSync(dirname(to)))
    if (name.startsWith(drafts)) rmSync(join(dirname(to), name), { force: true })
  const draft = temporaryPath(to)
  try {
    const source = new DatabaseSync(from, { readOnly: true })
    try {
      source.prepare('vacuum into ?').run(draft)
    } finally {
      source.close()
    }
    // As a store of its own: put back in its place, it opens like any other.
    const copy = new DatabaseSync(draft)
    copy.exec('pragma journal_mode = wal')
    copy.close()
    tighten(draft, 0o600)
    const file = openSync(draft, 'r')
    fsyncSync(file)
    closeSync(file)
    copied()
    renameSync(draft, to)
    syncDirectorySync(dirname(to))
  } finally {
    for (const left of [draft, `${draft}-wal`, `${draft}-shm`, `${draft}-journal`]) rmSync(left, { force: true })
  }
}
