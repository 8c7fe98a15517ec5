import { rmSync, statSync } from 'node:fs'
import type { NodeRow } from '@holdfast/core/ports'
import { type Fault, HoldfastError, orThrow } from '@holdfast/protocol'
import { temporaryPath } from '../../store/disk.ts'
import { error, type Finding, type FindingCode, isSameFinding, warning } from '../../store/finding.ts'
import { adminOf, findOpenFault } from '../../store/open/admin-of.ts'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import type { ReadOnlyStore, ReadProgress } from '../../store/read-only-store.ts'
import { findLiveNodes } from '../../system/node/node-socket.ts'
import { checkBlobFiles, checkBlobs } from './check-blobs.ts'
import { type CheckedSessions, checkSessions } from './check-sessions.ts'

/** What is wrong with a store, and how to repair it. */
export type CheckResult = Omit<CheckedSessions, 'blobs'> & {
  readonly blobs: number
  readonly deadNodes: readonly NodeRow[]
  /** Parts of the files cannot be read: the findings are those of a copy with the rest. */
  readonly needsRebuild: boolean
}

/** Checks the files of a store and all that is in them. Changes nothing. */
export async function checkAll(
  location: DiskLocation,
  onProgress?: (progress: ReadProgress) => void,
): Promise<CheckResult> {
  const opened = await openReadOnlyStore(location)
  const source = opened.ok ? opened.value : null
  try {
    // If the node table is damaged, assume that some process has the store open.
    const isUnknown = source !== null && (await hasUnreadableNodes(source))
    const isHeld = isUnknown || (await findOpenFault(location, source ?? unreadable)) !== null
    const files = [...(await adminOf(location).checkFiles(isHeld)), ...(await checkBlobFiles(location.blobsDir))]
    // While a process has the store open, unfinished files belong to it.
    const fileFindings = files.filter(({ code }) => !isHeld || code !== 'unfinished_file')
    if (source !== null) {
      const inside = adminOf(location).checkInside()
      // While another process writes, a copy of its files would be inconsistent.
      const canCopy = (!isHeld || isUnknown) && inside.some(({ code }) => pageCodes.has(code))
      const isDamaged = canCopy && adminOf(location).hasDamagedPages()
      const checked = isDamaged ? await checkReadableCopy(location, fileFindings, inside) : null
      return checked ?? (await checkContent(location, source, { isHeld, inside, fileFindings, onProgress }))
    }
    const checked = await checkReadableCopy(location, fileFindings, [])
    if (checked !== null) return checked
    const what = opened.ok ? 'it does not exist' : describeUnusable(location, opened.fault)
    // Nothing of it is changed, not even the modes: it may belong to another program.
    const leftAlone = fileFindings.map((finding) => ({ ...finding, canRepair: false }))
    return { ...nothing, findings: [...leftAlone, error({ code: 'unusable', subject: location.path, what })] }
  } finally {
    await source?.close()
  }
}

/** The codes that damaged pages are reported with. */
const pageCodes: ReadonlySet<FindingCode> = new Set(['damaged_file', 'search'])

/** Says what to do with a file in which no session can be read. */
function describeUnusable({ path }: DiskLocation, { code, message, details }: Fault): string {
  if (code !== 'not_a_store' && details?.['reason'] !== 'damaged') return message
  const what = statSync(path).size === 0 ? 'it is empty' : 'it is not a Holdfast store, or no session of it can be read'
  return `${what}; it was not changed. If you have a backup, copy it to this path. Otherwise move the file away: the next start creates a new store`
}

/**
 * Checks what a repair would make of a store whose files cannot all be read, in a copy. `inside` is what was found without a
 * copy. Returns null if nothing can be read.
 */
async function checkReadableCopy(
  location: DiskLocation,
  fileFindings: readonly Finding[],
  inside: readonly Finding[],
): Promise<CheckResult | null> {
  const copy = { ...location, path: temporaryPath(location.path) }
  try {
    const copied = await adminOf(location).copyReadableTo(copy.path)
    const source = copied === null ? null : orThrow(await openReadOnlyStore(copy))
    if (copied === null || source === null) return null
    try {
      const ofCopy = adminOf(copy).checkInside()
      const { findings, ...rest } = await checkContent(copy, source, { isHeld: false, inside: ofCopy, fileFindings })
      const content = findings.filter(({ subject }) => subject !== copy.path)
      return { ...rest, needsRebuild: true, findings: [...describeDamage(location, inside, copied), ...content] }
    } finally {
      await source.close()
    }
  } finally {
    removeFiles(copy.path)
  }
}

/** Returns the findings about pages that cannot be read. The first one names what is missing. */
function describeDamage(
  { path }: DiskLocation,
  inside: readonly Finding[],
  copied: Pick<Finding, 'what' | 'loss'>,
): readonly Finding[] {
  const found = inside.filter(({ code }) => pageCodes.has(code))
  const [first, ...others] = found.filter(({ code }) => code === 'damaged_file')
  const ofWords = found.filter(({ code }) => code === 'search')
  const damage = error({ code: 'damaged_file', subject: path, ...copied, canRepair: true })
  const isKnown = first !== undefined || (ofWords.length > 0 && copied.loss === null)
  const named =
    first === undefined ? [] : [{ ...first, loss: copied.loss }, ...others.map((one) => ({ ...one, loss: null }))]
  return [...(isKnown ? [] : [damage]), ...named, ...ofWords].map((one) => ({ ...one, canRepair: true }))
}

/** A placeholder for a store that cannot be read: it names no nodes. */
export const unreadable = { nodes: async () => [] }

/** Returns whether the page with the nodes is damaged, so that users of the store are unknown. */
export async function hasUnreadableNodes(source: ReadOnlyStore): Promise<boolean> {
  try {
    await source.nodes()
    return false
  } catch (cause) {
    if (cause instanceof HoldfastError && cause.details?.['reason'] === 'damaged') return true
    throw cause
  }
}

const nothing: CheckResult = {
  findings: [],
  repairs: [],
  removals: [],
  sessions: 0,
  records: 0,
  blobs: 0,
  deadNodes: [],
  needsRebuild: false,
}

type Known = {
  readonly isHeld: boolean
  readonly inside: readonly Finding[]
  readonly fileFindings: readonly Finding[]
  readonly onProgress?: ((progress: ReadProgress) => void) | undefined
}

async function checkContent(
  location: DiskLocation,
  source: ReadOnlyStore,
  { isHeld, inside, fileFindings, onProgress }: Known,
): Promise<CheckResult> {
  try {
    const isNamed = !(await hasUnreadableNodes(source))
    const deadNodes = isNamed ? await findDeadNodes(source) : []
    const dead = deadNodes.map(({ id, startedAt }) => {
      const what = `a process that started ${startedAt} ended without unregistering`
      return warning({ code: 'dead_node', subject: id, what })
    })
    const isDead = isNamed ? createIsDead(source) : async () => false
    const { findings, blobs, ...rest } = await checkSessions(source, { isHeld, isDead, onProgress })
    const own = [...inside.filter((finding) => !isReportedRow(finding, findings)), ...dead, ...findings]
    const blobFindings = await checkBlobs(location.blobsDir, blobs)
    const all = [...fileFindings, ...own, ...blobFindings]
    return { ...rest, blobs: blobs.size, deadNodes, needsRebuild: false, findings: all }
  } catch (cause) {
    if (!(cause instanceof HoldfastError)) throw cause
    const damage = error({ code: 'damaged_file', subject: location.path, what: cause.message })
    return { ...nothing, findings: [...fileFindings, damage] }
  }
}

/** Returns whether the session check, which also read the log, already reported this row. */
const isReportedRow = (finding: Finding, others: readonly Finding[]): boolean =>
  finding.code === 'row' && others.some((other) => isSameFinding(finding, other))

async function findDeadNodes(source: ReadOnlyStore): Promise<readonly NodeRow[]> {
  const all = await source.nodes()
  const alive = new Set((await findLiveNodes({ nodes: async () => all })).map(({ id }) => id))
  // A node that ended in the meantime has unregistered.
  const stillRegistered = new Set((await source.nodes()).map(({ id }) => id))
  return all.filter(({ id }) => !alive.has(id) && stillRegistered.has(id))
}

/** Caches live owners, and asks again for unknown ones: an owner may have started during the check. */
function createIsDead(source: ReadOnlyStore): (owner: string) => Promise<boolean> {
  const alive = new Set<string>()
  return async (owner) => {
    if (!alive.has(owner)) for (const { id } of await findLiveNodes(source)) alive.add(id)
    return !alive.has(owner)
  }
}

/** Removes a copy of a store. */
export function removeFiles(path: string): void {
  for (const left of [path, `${path}-wal`, `${path}-shm`]) rmSync(left, { recursive: true, force: true })
}
