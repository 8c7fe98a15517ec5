import { rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Store } from '@holdfast/core/ports'
import { addTrust, type Fault, fault, orThrow, type Trust } from '@holdfast/protocol'
import { listNames } from '../../store/finding.ts'
import { lockDirectory } from '../../store/jsonl/files/directory-lock.ts'
import { createJsonlPaths } from '../../store/jsonl/files/layout.ts'
import { readJsonIfExists, replaceFile } from '../../store/jsonl/files/replace-file.ts'
import { scopeKey } from '../../store/ledger.ts'
import { type DiskLocation, isOnDisk, type SavedLocation } from '../../store/open/store-location.ts'
import { everySession, type ReadOnlyStore, type WorkspaceTrust } from '../../store/read-only-store.ts'
import { openForWriting } from '../../store/sqlite/files/database-file.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import { wallClock } from '../../system/wall-clock.ts'

/** Matches the suffix of a temporary store file, which names its process, and of the files SQLite puts beside it. */
const temporarySuffix = /^\.new-(\d+)-[0-9a-z]+(-wal|-shm|-journal)?$/

/** Removes the temporary files of dead processes, which a JSONL store does itself when it is opened. */
export async function removeTemporaryStores({ kind, path }: DiskLocation): Promise<void> {
  if (kind !== 'sqlite') return
  const name = basename(path)
  for (const other of await listNames(dirname(path))) {
    const [, pid] = (other.startsWith(name) && temporarySuffix.exec(other.slice(name.length))) || []
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(dirname(path), other), { force: true })
  }
}

/** Returns whether a process has this id, which may have been reused: then the file stays. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemErrorCode(error) !== 'ESRCH'
  }
}

/** Adds trusts to a store that is not open. Records do not contain all of them: sessions may have been removed. */
export async function writeTrusts(location: SavedLocation, trusts: readonly WorkspaceTrust[]): Promise<void> {
  if (trusts.length === 0) return
  if (isOnDisk(location)) return writeTrustsTo[location.kind](location.path, trusts)
  const { addTrusts } = await import('../../store/postgres/write/add-trusts.ts')
  await addTrusts(location, trusts)
}

type WriteTrusts = (path: string, trusts: readonly WorkspaceTrust[]) => void | Promise<void>
const writeTrustsTo: Readonly<Record<DiskLocation['kind'], WriteTrusts>> = { sqlite: writeToTable, jsonl: writeToFile }

function writeToTable(path: string, trusts: readonly WorkspaceTrust[]): void {
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

async function writeToFile(directory: string, trusts: readonly WorkspaceTrust[]): Promise<void> {
  const lock = orThrow(await lockDirectory(directory, wallClock.now(), 'store'))
  try {
    const path = createJsonlPaths(directory).trust
    const stored = (await readJsonIfExists(path)) as { readonly trusts?: Record<string, readonly Trust[]> } | null // written by us
    const all = new Map(Object.entries(stored?.trusts ?? {}))
    for (const { workspace, trust } of trusts) all.set(workspace, addTrust(all.get(workspace) ?? [], trust))
    await replaceFile(path, `${JSON.stringify({ trusts: Object.fromEntries(all) }, null, 2)}\n`)
  } finally {
    lock.release()
  }
}

/** Adds the tokens that the target does not have. It stores only hashes, so they let the same clients in. */
export async function copyTokens(
  source: Pick<Store, 'tokens'>,
  target: Pick<Store, 'tokens' | 'addToken'>,
): Promise<void> {
  const known = new Set((await target.tokens()).map(({ id }) => id))
  for (const token of await source.tokens()) if (!known.has(token.id)) orThrow(await target.addToken(token))
}

/** Adds the caps that the target does not have, and what was spent on days for which it knows nothing. */
export async function copySpending(
  source: Pick<ReadOnlyStore, 'charges' | 'caps'>,
  target: Pick<Store, 'listSpending' | 'addCharge' | 'caps' | 'setCap'>,
): Promise<void> {
  const known = new Set((await target.caps()).map(scopeKey))
  for (const cap of await source.caps()) if (!known.has(scopeKey(cap))) orThrow(await target.setCap(cap))
  const charges = Map.groupBy(await source.charges(), ({ day }) => day)
  for (const [day, ofDay] of charges) {
    if ((await target.listSpending(day, 1)).total.calls > 0) continue
    for (const charge of ofDay) orThrow(await target.addCharge(charge))
  }
}

/** Adds the permission rules that the target does not have. Returns how many it cannot keep: only a database has some. */
export async function copyRules(
  source: Pick<ReadOnlyStore, 'rules'>,
  target: Pick<Store, 'permissionRules'>,
): Promise<number> {
  const rules = source.rules === undefined ? [] : orThrow(await source.rules())
  if (target.permissionRules === undefined) return rules.length
  for (const rule of rules) orThrow(await target.permissionRules.addRule(rule))
  return 0
}

/** Returns a fault if the source keeps tenants apart: a target that does not would show everything to everyone. */
export async function findTenant(url: string, source: ReadOnlyStore): Promise<Fault | null> {
  const refusal = (tenant: string) => {
    const message = `${url} keeps tenants apart, such as ${tenant}. Only a postgres:// store can do so.`
    return fault('bad_request', message, { store: url, tenant })
  }
  for (const { tenant } of await source.tokens()) if (tenant !== undefined) return refusal(tenant)
  for await (const { tenant } of everySession(source)) if (tenant !== undefined) return refusal(tenant)
  return null
}
