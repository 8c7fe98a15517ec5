import { existsSync } from 'node:fs'
import { type Fault, fault, HoldfastError, ok, type Result, refuse } from '@holdfast/protocol'
import { temporaryPath } from '../../store/disk.ts'
import { error, type Finding, isSameFinding, isWrong, severities } from '../../store/finding.ts'
import { adminOf, findOpenFault } from '../../store/open/admin-of.ts'
import { openBlobsToRead } from '../../store/open/open-blobs.ts'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import { type DiskLocation, isOnDisk, type SavedLocation } from '../../store/open/store-location.ts'
import type { PostgresLocation } from '../../store/postgres/connect/postgres-url.ts'
import type { ReadProgress } from '../../store/read-only-store.ts'
import { faultOf } from '../../store/storage-fault.ts'
import type { Environment } from '../../system/home.ts'
import { type CheckResult, checkAll, hasUnreadableNodes, removeFiles, unreadable } from './check-all.ts'
import { checkRows } from './check-rows.ts'
import { createQuarantine, repair } from './repair-store.ts'

/** The result of a check of a store. */
export type StoreReport = {
  /** The store that was checked. */
  readonly store: string
  /** How many sessions were read. */
  readonly sessions: number
  /** How many records were read. */
  readonly records: number
  /** How many files were found. */
  readonly blobs: number
  /** The most severe first. */
  readonly findings: readonly (Finding & { readonly repaired: boolean })[]
  /** Describes the loss. The caller accepted it by asking for the repair. */
  readonly accepted: readonly string[]
  /** Messages of the store during the repair, for example where the end of a log was moved to. */
  readonly messages: readonly string[]
  /** True if nothing is wrong now: every finding was repaired or its loss accepted. */
  readonly isIntact: boolean
}

const passesMax = 3

type CheckOptions = {
  /** Repairs what can be repaired. Refused while another process has the store open. */
  readonly repair?: boolean | undefined
  readonly now?: (() => number) | undefined
  /** Has the keys of a place for files. */
  readonly environment?: Environment | undefined
  /** Called while the store is checked. */
  readonly onProgress?: ((progress: ReadProgress) => void) | undefined
}

/** Checks a store; with `repair` repairs what it can and checks again. Faults: not_found, session_locked, storage_error. */
export async function check(location: SavedLocation, options: CheckOptions = {}): Promise<Result<StoreReport>> {
  const { now = Date.now } = options
  if (!isOnDisk(location)) return checkDatabase(location, options)
  try {
    const saved = await adminOf(location).findReplacement()
    if (saved !== null) return await checkReplacement(location, saved, options)
    if (!existsSync(location.path))
      return refuse(fault('not_found', `There is no store ${location.url}.`, { store: location.url }))
    const found = await checkAll(location, options.onProgress)
    if (!options.repair || !found.findings.some(({ canRepair }) => canRepair))
      return ok(createReport(location, found, null))
    const inUse = await findUse(location)
    if (inUse !== null) return refuse(inUse)
    return ok(createReport(location, found, await repairAll(location, found, now)))
  } catch (cause) {
    return refuse(cause instanceof HoldfastError ? cause.toFault() : faultOf(cause, location.path))
  }
}

/** Checks the saved copy of a store that has no usable file; with `repair` makes it the store, then repairs that. */
async function checkReplacement(
  location: DiskLocation,
  saved: string,
  { repair: isRepair = false, now = Date.now, onProgress }: CheckOptions,
): Promise<Result<StoreReport>> {
  const copy = { ...location, path: saved }
  const { sessions, records, blobs, ...others } = await checkAll(copy, onProgress)
  const what = `a copy that was saved when another program moved, removed, replaced or truncated the store, which has no usable file now; records that are only there: ${records}, of sessions: ${sessions}`
  const lost = error({ code: 'saved_copy', subject: saved, what, canRepair: true })
  const before = { ...others, sessions, records, blobs, findings: [lost] }
  if (!isRepair) return ok(createReport(location, before, null))
  const inUse = await findUse(location, copy)
  if (inUse !== null) return refuse(inUse)
  const admin = adminOf(location)
  await admin.putBack(saved, createQuarantine(admin.quarantineDir))
  return ok(createReport(location, before, await repairAll(location, await checkAll(location), now)))
}

/** Checks a store in a database. Its rows are repaired by nobody here: the database keeps them whole, and a backup has them. */
async function checkDatabase(
  location: PostgresLocation,
  { repair: isRepair = false, environment }: CheckOptions,
): Promise<Result<StoreReport>> {
  if (isRepair) return refuse(noRepair(location))
  const opened = await openReadOnlyStore(location)
  if (!opened.ok) return opened
  const source = opened.value
  if (source === null) return refuse(fault('not_found', `There is no store ${location.url}.`, { store: location.url }))
  try {
    await using blobs = await openBlobsToRead(location, environment)
    return ok(createReport(location, await checkRows(source, blobs), null))
  } catch (cause) {
    if (cause instanceof HoldfastError) return refuse(cause.toFault())
    throw cause
  } finally {
    await source.close()
  }
}

const noRepair = ({ url }: PostgresLocation) => {
  const message = `doctor checks ${url}, but cannot repair a database. Restore a backup, such as one of pg_dump.`
  return fault('bad_request', message, { store: url })
}

/**
 * Repairs a store. If parts of its files cannot be read, repairs a copy of the rest, and replaces the store with it only at
 * the end: a repair that fails changes nothing.
 */
async function repairAll(location: DiskLocation, found: CheckResult, now: () => number): Promise<RepairResult> {
  const admin = adminOf(location)
  const quarantine = createQuarantine(admin.quarantineDir)
  const messages: string[] = []
  const repairInPasses = async (at: DiskLocation, first: CheckResult): Promise<CheckResult> => {
    let checked = first
    // One repair can reveal the next problem, for example a row behind a wrong head.
    for (let pass = 0; pass < passesMax && checked.findings.some(({ canRepair }) => canRepair); pass++) {
      messages.push(...(await repair(at, checked, { quarantine, nowMs: now() })))
      checked = await checkAll(at)
    }
    return checked
  }
  if (!found.needsRebuild) return { checked: await repairInPasses(location, found), messages }

  const copy = { ...location, path: temporaryPath(location.path) }
  try {
    await admin.saveDamaged(quarantine)
    await admin.copyReadableTo(copy.path)
    await repairInPasses(copy, await checkAll(copy))
    await adminOf(copy).rebuildIndexes(found.findings)
    await admin.replaceWith(copy.path)
  } finally {
    removeFiles(copy.path)
  }
  // What is left is outside of the file, for example its mode.
  return { checked: await repairInPasses(location, await checkAll(location)), messages }
}

type RepairResult = { readonly checked: CheckResult; readonly messages: readonly string[] }

/** Returns a fault if another process has the store open. `rows` is where its nodes are listed. */
async function findUse(location: DiskLocation, rows = location): Promise<Fault | null> {
  const opened = await openReadOnlyStore(rows)
  const source = opened.ok ? opened.value : null
  try {
    const isUnknown = source !== null && (await hasUnreadableNodes(source))
    return isUnknown ? null : await findOpenFault(location, source ?? unreadable)
  } finally {
    await source?.close()
  }
}

function createReport(location: SavedLocation, before: CheckResult, repaired: RepairResult | null): StoreReport {
  const after = repaired?.checked ?? null
  const isLeft = (finding: Finding) => after?.findings.some((one) => isSameFinding(one, finding)) ?? true
  const old = before.findings.map((finding) => ({
    ...finding,
    repaired: (isWrong(finding) || finding.canRepair) && !isLeft(finding),
  }))
  const added = (after?.findings ?? []).filter((finding) => !before.findings.some((old) => isSameFinding(finding, old)))
  const findings = [...old, ...added.map((finding) => ({ ...finding, repaired: false }))].toSorted(
    (left, right) => severities.indexOf(left.severity) - severities.indexOf(right.severity),
  )
  const { sessions, records, blobs } = after ?? before
  const isIntact = findings.every((finding) => finding.repaired || !isWrong(finding))
  const accepted = findings.flatMap(({ repaired: isRepaired, loss }) => (isRepaired && loss !== null ? [loss] : []))
  return {
    store: location.url,
    sessions,
    records,
    blobs,
    findings,
    accepted,
    messages: repaired?.messages ?? [],
    isIntact,
  }
}
