import type { BlobReader } from '../../store/blobs/file-blobs.ts'
import { error, type Finding, info } from '../../store/finding.ts'
import { findNodesAlive } from '../../store/open/admin-of.ts'
import type { ReadOnlyStore } from '../../store/read-only-store.ts'
import type { CheckResult } from './check-all.ts'
import { checkSessions } from './check-sessions.ts'

/** Checks a store without files here: every record, row and blob. Nodes may write meanwhile. Changes nothing. */
export async function checkRows(source: ReadOnlyStore, reader: BlobReader): Promise<CheckResult> {
  const alive = new Set((await findNodesAlive(source)).map(({ id }) => id))
  const isDead = async (owner: string) => {
    // Asked again for an unknown one: it may have started during the check.
    if (!alive.has(owner)) for (const { id } of await findNodesAlive(source)) alive.add(id)
    return !alive.has(owner)
  }
  const { findings, blobs, ...rest } = await checkSessions(source, { isHeld: alive.size > 0, isDead })
  const ofBlobs: Finding[] = []
  for (const [hash, session] of blobs) {
    if (await reader.isWhole(hash)) continue
    const isThere = (await reader.open(hash)) !== null
    const what = isThere
      ? 'the content of the blob does not match its hash'
      : 'a blob that this session refers to is missing'
    ofBlobs.push(error({ code: isThere ? 'damaged_blob' : 'missing_blob', subject: `${session} ${hash}`, what }))
  }
  const all = [...findings.map(asFact), ...ofBlobs].map((finding) => ({ ...finding, canRepair: false }))
  return { ...rest, blobs: blobs.size, deadNodes: [], needsRebuild: false, findings: all }
}

/** A session of a dead node is taken over by the next one that needs it, so nothing is wrong with it. */
const asFact = (finding: Finding): Finding =>
  finding.code === 'dead_owner'
    ? info({ ...finding, what: `${finding.what}; the next command or client brings it up on another node` })
    : finding
