import { existsSync } from 'node:fs'
import type { NodeRow } from '@holdfast/core/ports'
import { type Fault, fault, HoldfastError, ok, type Result, refuse } from '@holdfast/protocol'
import { error, type Finding, isSameFinding, isWrong, severities, warning } from '../../store/finding.ts'
import { adminOf } from '../../store/open/admin-of.ts'
import { openReadOnlyStore } from '../../store/open/open-read-only.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { useOf } from '../../store/open/store-use.ts'
import type { ReadOnlyStore } from '../../store/read-only-store.ts'
import { faultOf } from '../../store/storage-fault.ts'
import { findLiveNodes } from '../../system/node/live-nodes.ts'
import { checkBlobFiles } from './check-blob-files.ts'
import { checkBlobs } from './check-blobs.ts'
import { type CheckedSessions, checkSessions } from './check-sessions.ts'
import { mend } from './repair-store.ts'

export type StoreReport = {
  readonly store: string
  readonly sessions: number
  readonly records: number
  readonly blobs: number
  /** The worst first. */
  readonly findings: readonly (Finding & { readonly mended: boolean })[]
  /** What is lost for good, in words, and was accepted by asking for the repair. */
  readonly accepted: readonly string[]
  /** What the store said while it was mended, as where the end of a log was moved to. */
  readonly told: readonly string[]
  /** Whether nothing is wrong, or nothing is any more: all is mended, or the loss of it accepted. */
  readonly isSound: boolean
}

const passesMax = 3

export type CheckOptions = {
  /** Mends what can be mended. Refused while another process has the store. */
  readonly repair?: boolean | undefined
  readonly now?: (() => number) | undefined
}

/**
 * Looks through a whole store. Without `repair` no byte of it is changed. With it, what can be mended is, and the store
 * is looked through once more: what is still found was not mended. Refused: not_found, session_locked, storage_error.
 */
export async function check(place: DiskLocation, options: CheckOptions = {}): Promise<Result<StoreReport>> {
  const { repair = false, now = Date.now } = options
  if (!existsSync(place.path))
    return refuse(fault('not_found', `There is no store ${place.url}.`, { store: place.url }))
  try {
    const found = await lookThrough(place)
    if (!repair || !found.findings.some(({ canMend }) => canMend)) return ok(reportOf(place, found, null))
    const inUse = await usedBy(place)
    if (inUse !== null) return refuse(inUse)
    return ok(reportOf(place, found, await mendAll(place, found, now)))
  } catch (cause) {
    return refuse(cause instanceof HoldfastError ? cause.toFault() : faultOf(cause, place.path))
  }
}

/** What is mended may show what it hid: a row can be right only once its head is. */
async function mendAll(place: DiskLocation, found: Looked, now: () => number): Promise<Mended> {
  let looked = found
  const told: string[] = []
  for (let pass = 0; pass < passesMax && looked.findings.some(({ canMend }) => canMend); pass++) {
    told.push(...(await mend(place, looked, now())))
    looked = await lookThrough(place)
  }
  return { looked, told }
}

type Mended = { readonly looked: Looked; readonly told: readonly string[] }

export type Looked = Omit<CheckedSessions, 'blobs'> & {
  readonly blobs: number
  readonly deadNodes: readonly NodeRow[]
}

async function lookThrough(place: DiskLocation): Promise<Looked> {
  const opened = await openReadOnlyStore(place)
  const source = opened.ok ? opened.value : null
  try {
    // Where nobody can say who has it, it may be anyone's: mending its pages is refused while someone has it open.
    const isUnknown = source !== null && (await namesNobody(source))
    const isHeld = isUnknown || (await useOf(place, source ?? unnamed)) !== null
    const files = [...(await adminOf(place).checkFiles(isHeld)), ...(await checkBlobFiles(place.blobsDir))]
    // While someone has the store, what is half-made is theirs.
    const outside = files.filter(({ code }) => !isHeld || code !== 'unfinished_file')
    if (source !== null) return await lookInside(place, source, isHeld, outside)
    const what = opened.ok ? 'it is not there' : opened.fault.message
    return { ...nothing, findings: [...outside, error({ code: 'unusable', place: place.path, what })] }
  } finally {
    await source?.close()
  }
}

/** A store that cannot be read names nobody. */
const unnamed = { nodes: async () => [] }

/** Whether those who have the store cannot be told, as the page that names them is damaged. */
async function namesNobody(source: ReadOnlyStore): Promise<boolean> {
  try {
    await source.nodes()
    return false
  } catch (cause) {
    if (cause instanceof HoldfastError && cause.details?.['reason'] === 'damaged') return true
    throw cause
  }
}

const nothing: Looked = { findings: [], mends: [], sessions: 0, records: 0, blobs: 0, deadNodes: [] }

async function lookInside(
  place: DiskLocation,
  source: ReadOnlyStore,
  isHeld: boolean,
  outside: readonly Finding[],
): Promise<Looked> {
  try {
    const tables = adminOf(place).checkInside()
    const isNamed = !(await namesNobody(source))
    const deadNodes = isNamed ? await deadNodesOf(source) : []
    const dead = deadNodes.map(({ id, startedAt }) =>
      warning({ code: 'dead_node', place: id, what: `a process that began ${startedAt} is gone without a word` }),
    )
    const { findings, blobs, ...rest } = await checkSessions(source, {
      isHeld,
      isGone: isNamed ? createIsGone(source) : async () => false,
    })
    const own = [...tables.filter((one) => !isSaidOfRow(one, findings)), ...dead, ...findings]
    const kept = await checkBlobs(place.blobsDir, blobs)
    return { ...rest, blobs: blobs.size, deadNodes, findings: [...outside, ...own, ...kept] }
  } catch (cause) {
    if (!(cause instanceof HoldfastError)) throw cause
    return {
      ...nothing,
      findings: [...outside, error({ code: 'damaged_file', place: place.path, what: cause.message })],
    }
  }
}

/** What is wrong with a row is said once, by whoever read the session's log too. */
const isSaidOfRow = (finding: Finding, others: readonly Finding[]): boolean =>
  finding.code === 'row' && others.some((other) => isSameFinding(finding, other))

async function deadNodesOf(source: ReadOnlyStore): Promise<readonly NodeRow[]> {
  const all = await source.nodes()
  const living = new Set((await findLiveNodes({ nodes: async () => all })).map(({ id }) => id))
  // One that ended meanwhile said so.
  const left = new Set((await source.nodes()).map(({ id }) => id))
  return all.filter(({ id }) => !living.has(id) && left.has(id))
}

/** An owner may have come while sessions were read: one that was not there before is asked for again. */
function createIsGone(source: ReadOnlyStore): (owner: string) => Promise<boolean> {
  const living = new Set<string>()
  return async (owner) => {
    if (!living.has(owner)) for (const { id } of await findLiveNodes(source)) living.add(id)
    return !living.has(owner)
  }
}

async function usedBy(place: DiskLocation): Promise<Fault | null> {
  const opened = await openReadOnlyStore(place)
  const source = opened.ok ? opened.value : null
  try {
    const isUnknown = source !== null && (await namesNobody(source))
    return isUnknown ? null : await useOf(place, source ?? unnamed)
  } finally {
    await source?.close()
  }
}

function reportOf(place: DiskLocation, before: Looked, mended: Mended | null): StoreReport {
  const after = mended?.looked ?? null
  const isLeft = (finding: Finding) => after?.findings.some((one) => isSameFinding(one, finding)) ?? true
  const old = before.findings.map((finding) => ({ ...finding, mended: isWrong(finding) && !isLeft(finding) }))
  const fresh = (after?.findings ?? []).filter((one) => !before.findings.some((other) => isSameFinding(one, other)))
  const findings = [...old, ...fresh.map((finding) => ({ ...finding, mended: false }))].toSorted(
    (left, right) => severities.indexOf(left.severity) - severities.indexOf(right.severity),
  )
  const { sessions, records, blobs } = after ?? before
  const isSound = findings.every((finding) => finding.mended || !isWrong(finding))
  const accepted = findings.flatMap(({ mended: isMended, loss }) => (isMended && loss !== null ? [loss] : []))
  return { store: place.url, sessions, records, blobs, findings, accepted, told: mended?.told ?? [], isSound }
}
