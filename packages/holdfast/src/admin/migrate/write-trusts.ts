import { addTrust, orThrow, type Trust } from '@holdfast/protocol'
import { readJsonIfExists, replaceFile } from '../../store/jsonl/files/atomic-file.ts'
import { lockDirectory } from '../../store/jsonl/files/directory-lock.ts'
import { createJsonlPaths } from '../../store/jsonl/files/layout.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import type { WorkspaceTrust } from '../../store/read-only-store.ts'
import { openForWriting } from '../../store/sqlite/file/database-file.ts'
import { wallClock } from '../../system/wall-clock.ts'

/** Adds what workspaces trust to a store that nobody has open. A workspace may trust what none of its sessions said. */
export async function writeTrusts(place: DiskLocation, trusts: readonly WorkspaceTrust[]): Promise<void> {
  if (trusts.length === 0) return
  if (place.kind === 'sqlite') intoTable(place.path, trusts)
  else await intoFile(place.path, trusts)
}

function intoTable(path: string, trusts: readonly WorkspaceTrust[]): void {
  const database = openForWriting(path)
  try {
    const insert = database.prepare('insert or ignore into trust (workspace, tool, args_hash) values (?, ?, ?)')
    database.exec('begin immediate')
    for (const { workspace, trust } of trusts) insert.run(workspace, trust.tool, trust.argsHash ?? '')
    database.exec('commit')
  } finally {
    database.close()
  }
}

async function intoFile(directory: string, trusts: readonly WorkspaceTrust[]): Promise<void> {
  const lock = orThrow(await lockDirectory(directory, wallClock.now(), 'store'))
  try {
    const path = createJsonlPaths(directory).trust
    const held = (await readJsonIfExists(path)) as { readonly trusts?: Record<string, readonly Trust[]> } | null // written by us
    const all = new Map(Object.entries(held?.trusts ?? {}))
    for (const { workspace, trust } of trusts) all.set(workspace, addTrust(all.get(workspace) ?? [], trust))
    await replaceFile(path, `${JSON.stringify({ trusts: Object.fromEntries(all) }, null, 2)}\n`)
  } finally {
    lock.release()
  }
}
