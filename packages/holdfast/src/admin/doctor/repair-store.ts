import { randomUUID } from 'node:crypto'
import { chmod, copyFile, lstat, mkdir, open, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { EncodedRecord, OnProblem, Store } from '@holdfast/core/ports'
import { errorMessage, eventVersion, orThrow, type Recorded } from '@holdfast/protocol'
import { adminOf } from '../../store/open/admin-of.ts'
import { openDiskStore } from '../../store/open/open-storage.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import type { Quarantine, SessionRemoval, SessionRepair } from '../../store/store-admin.ts'
import { syncDirectory } from '../../system/files/sync-directory.ts'
import { removeNodeSocket } from '../../system/node/node-socket.ts'
import type { CheckResult } from './check-all.ts'

/** Repairs a store that no other process has open, after copying damaged data aside. Returns the store's messages. */
export async function repair(
  location: DiskLocation,
  checked: CheckResult,
  { quarantine, nowMs }: { readonly quarantine: Quarantine; readonly nowMs: number },
): Promise<readonly string[]> {
  const messages: string[] = []
  const admin = adminOf(location)
  const findings = checked.findings.filter(({ canRepair }) => canRepair)
  for (const { code, subject: path } of findings) {
    if (code === 'permissions') await chmod(path, (await lstat(path)).mode & 0o700)
    if (code === 'unfinished_file') await quarantine.move(path)
  }
  await admin.repair({ findings, repairs: checked.repairs, removals: checked.removals }, quarantine)
  const { store } = orThrow(await openDiskStore(location, (problem) => messages.push(describeProblem(problem))))
  try {
    for (const session of checked.repairs) await repairSession(session, store, nowMs)
    for (const session of checked.removals) await removeSession(session, store)
    for (const { id, address } of checked.deadNodes) {
      await store.removeNode(id, 'ended')
      await removeNodeSocket(address)
    }
  } finally {
    await store.close()
  }
  await admin.rebuildIndexes(findings)
  return messages
}

const describeProblem = ({ where, cause }: Parameters<OnProblem>[0]): string => `${where}: ${errorMessage(cause)}`

/** Owns a session during the repair. It has no socket, so any later process may take over. */
const doctorOwner = 'node_doctor'

/** Sets a session's row to what its log says, records the accepted losses, and frees it from a dead owner. */
async function repairSession(
  { session, entry, lost, owner }: SessionRepair,
  store: Store,
  nowMs: number,
): Promise<void> {
  const row = await store.entry(session)
  if (row === null) return
  if (row.trashedAt !== null) orThrow(await store.restore(session)) // a session in the trash cannot be claimed
  const { epoch, head } = orThrow(await store.claim(session, doctorOwner, owner ?? row.owner))
  const records = lost.length === 0 ? [] : [createRepairRecord(head + 1, lost, nowMs)]
  const change = { records, entry, clearDraft: false, blobs: [], trust: [] }
  orThrow(await store.append({ session, after: head, epoch, ...change }))
  await store.release(session, doctorOwner, epoch)
  if (row.trashedAt !== null) orThrow(await store.trash(session, row.trashedAt))
}

/** Removes a session, apart from the records that its forks share. */
async function removeSession({ session, owner }: SessionRemoval, store: Store): Promise<void> {
  if (owner !== null) {
    // A session with an owner is not removed, and one in the trash cannot be claimed.
    orThrow(await store.restore(session))
    const { epoch } = orThrow(await store.claim(session, doctorOwner, owner))
    await store.release(session, doctorOwner, epoch)
  }
  orThrow(await store.purge(session))
}

function createRepairRecord(seq: number, lost: SessionRepair['lost'], nowMs: number): EncodedRecord {
  const event: Recorded['event'] = { type: 'log.repaired', lost: [...lost] }
  const record = { seq, at: new Date(nowMs).toISOString(), v: eventVersion['log.repaired'], event }
  return { record, body: JSON.stringify(event) }
}

/** Creates the directory with the first file. */
export function createQuarantine(directory: string): Quarantine {
  const createPath = async (name: string): Promise<string> => {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await chmod(directory, 0o700)
    return join(directory, `${name}.${randomUUID().slice(0, 8)}`)
  }
  return {
    async move(path) {
      await rename(path, await createPath(basename(path)))
      await syncDirectory(directory)
      await syncDirectory(dirname(path))
    },
    async copy(path) {
      const to = await createPath(basename(path))
      await copyFile(path, to)
      await using file = await open(to, 'r+')
      await file.chmod(0o600)
      await file.sync()
      await syncDirectory(directory)
    },
    async note(name, text) {
      await using file = await open(await createPath(name), 'wx', 0o600)
      await file.writeFile(text)
      await file.sync()
      await syncDirectory(directory)
    },
  }
}
