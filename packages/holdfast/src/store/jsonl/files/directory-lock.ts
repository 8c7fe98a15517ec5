import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { NodeRow } from '@holdfast/core/ports'
import { type Fault, fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import { type FileLock, lockFile } from '../../../system/files/file-lock.ts'
import { faultOf, isBusy } from '../../storage-fault.ts'
import { readJsonIfExists, replaceFile } from './replace-file.ts'

type Holder = {
  /** Whether the directory is the store itself or a copy of one. */
  readonly role: 'store' | 'mirror'
  readonly pid: number
  readonly host: string
  readonly since: string
}

/** Locks a directory for this process. A paused process keeps the lock: plain files cannot be fenced. Faults: session_locked. */
export async function lockDirectory(directory: string, nowMs: number, role: Holder['role']): Promise<Result<FileLock>> {
  const path = join(directory, '.lock')
  let lock: FileLock | null
  try {
    lock = lockFile(path)
  } catch (error) {
    return refuse(faultOf(error, path))
  }
  if (lock === null) return refuse(await createLockedFault(directory))
  const holder: Holder = { role, pid: process.pid, host: hostname(), since: new Date(nowMs).toISOString() }
  // Used only in the error for other processes: a full disk must not prevent reading.
  await replaceFile(holderPath(directory), `${JSON.stringify(holder)}\n`).catch(() => undefined)
  return ok(lock)
}

/** Returns a `session_locked` fault if a process holds the directory; otherwise null. Changes nothing. */
export async function findDirectoryHolder(directory: string): Promise<Fault | null> {
  const path = join(directory, '.lock')
  if (!existsSync(path)) return null
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    database.prepare('select count(*) from sqlite_master').get()
    return null
  } catch (error) {
    return isBusy(error) ? createLockedFault(directory) : null // not a lock file
  } finally {
    database?.close()
  }
}

const holderPath = (directory: string): string => join(directory, 'holder.json')

/** Creates a fault that names the holder and its address. */
async function createLockedFault(directory: string): Promise<Fault> {
  const holder = ((await readJsonIfExists(holderPath(directory))) ?? {}) as Partial<Holder> // written by us
  const node = (await readNodes(join(directory, 'nodes.json'))).at(-1) ?? null
  const owner = holder.pid === undefined ? '' : ` (process ${holder.pid} on ${holder.host}, since ${holder.since})`
  const message = `The store at ${directory} is open in another process${owner}. Use that process, or stop it first.`
  const { id = null, address = null } = node ?? {}
  return fault('session_locked', message, { ...holder, node: id, address, path: directory })
}

export const readNodes = async (path: string): Promise<readonly NodeRow[]> =>
  ((await readJsonIfExists(path)) ?? []) as readonly NodeRow[] // written by us

/** Opens the list of registered nodes. Only one process can hold the directory, so there are few. */
export async function openNodeFile(path: string) {
  const nodes = new Map((await readNodes(path)).map((node) => [node.id, node]))
  const serialize = createSerialQueue()
  const all = () => [...nodes.values()].toSorted((left, right) => (left.id < right.id ? -1 : 1))
  const write = () => serialize(() => replaceFile(path, `${JSON.stringify(all(), null, 2)}\n`))
  return {
    all,
    put(node: NodeRow): Promise<void> {
      nodes.set(node.id, { ...node })
      return write()
    },
    remove(id: string): Promise<void> {
      nodes.delete(id)
      return write()
    },
  }
}
