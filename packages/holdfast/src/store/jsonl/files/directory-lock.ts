import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { tighten } from '../../../system/files/private-directory.ts'
import { faultOf, isBusy } from '../../storage-fault.ts'
import { readJsonIfExists, replaceFile } from './atomic-file.ts'
import { readNodes } from './node-file.ts'

/** The right to write in a directory, for as long as this process lives and no longer. */
export interface DirectoryLock {
  release(): void
}

/** What a directory is held for: as the place of the truth, or as a copy of it. */
export type HolderRole = 'store' | 'mirror'

type Holder = {
  readonly role: HolderRole
  readonly pid: number
  readonly host: string
  readonly since: string
}

/**
 * Takes a directory for this process. The lock is the system's own, by way of SQLite on an empty file, as Node has no
 * other: it goes with the process that holds it, not with a clock, a number or a file left behind, and one that is
 * merely stopped keeps it. Plain files cannot be fenced, so nothing less will do. Nothing else in this process may open
 * that file: closing any descriptor of it would give the lock away. Refused: session_locked.
 */
export async function lockDirectory(
  directory: string,
  nowMs: number,
  role: HolderRole,
): Promise<Result<DirectoryLock>> {
  const path = join(directory, '.lock')
  let database: DatabaseSync
  try {
    database = new DatabaseSync(path, { timeout: 0 })
  } catch (error) {
    return refuse(faultOf(error, path))
  }
  try {
    database.exec('pragma journal_mode = memory; begin exclusive') // nothing is written, so nothing beside it either
    tighten(path, 0o600)
    const holder: Holder = { role, pid: process.pid, host: hostname(), since: new Date(nowMs).toISOString() }
    // Only said to whoever is refused: a full disk must not keep anyone from reading.
    await replaceFile(holderPath(directory), `${JSON.stringify(holder)}\n`).catch(() => undefined)
  } catch (error) {
    database.close()
    return refuse(isBusy(error) ? await createLockedFault(directory) : faultOf(error, path))
  }
  return ok({ release: () => database.close() })
}

/** Who has a directory now, as the fault that whoever wants it gets; null when nobody does. Takes nothing, changes nothing. */
export async function findDirectoryHolder(directory: string): Promise<Fault | null> {
  const path = join(directory, '.lock')
  if (!existsSync(path)) return null
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    database.prepare('select count(*) from sqlite_master').get()
    return null
  } catch (error) {
    return isBusy(error) ? createLockedFault(directory) : null // what is no lock locks nothing
  } finally {
    database?.close()
  }
}

const holderPath = (directory: string): string => join(directory, 'holder.json')

/** Names the holder, so that whoever is refused can go there. */
async function createLockedFault(directory: string): Promise<Fault> {
  const holder = ((await readJsonIfExists(holderPath(directory))) ?? {}) as Partial<Holder> // written by us
  const node = (await readNodes(join(directory, 'nodes.json'))).at(-1) ?? null
  const who = holder.pid === undefined ? '' : ` (process ${holder.pid} on ${holder.host}, since ${holder.since})`
  const message = `The store at ${directory} is open in another process${who}. Use that one, or end it first.`
  return fault('session_locked', message, {
    ...holder,
    node: node?.id ?? null,
    address: node?.address ?? null,
    path: directory,
  })
}
