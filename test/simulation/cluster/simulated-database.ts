import type { Cluster, EncodedRecord, Store } from '@holdfast/core/ports'
import { createSerialQueue, done, fault, type Result, refuse, type SessionId } from '@holdfast/protocol'
import type { VirtualClock } from '@holdfast/testkit'
import { createMemoryStore } from '../../../packages/holdfast/src/store/memory/memory-store.ts'
import { createAudit } from './audit.ts'
import type { Transact } from './connection.ts'
import { checksumsOf, decodeAppend, type SentAppend } from './decode-append.ts'

/** How the database or the nodes can be wrong, to show that the checks notice it. */
export type Defect =
  | 'the database ignores epochs'
  | 'the database lets a live node be replaced'
  | 'the database removes a live node'
  | 'the database acknowledges what it does not write'
  | 'the database accepts a command twice'
  | 'a node works on after its term'

export const termMs = 4000

const withoutCommand = ({ record, body }: EncodedRecord): EncodedRecord => {
  const { commandId: _, ...rest } = record
  return { record: rest, body }
}

type NodeTerm = { readonly row: Parameters<Cluster['join']>[0]; endsAtMs: number; isDraining: boolean }

export type SimulatedDatabase = ReturnType<typeof createSimulatedDatabase>

/**
 * A database for several nodes, in memory, with a clock of its own: terms of nodes, leases with epochs, and the function
 * that appends groups of batches. Each statement is a transaction. Every call goes through a connection that may fail.
 */
export function createSimulatedDatabase(clock: VirtualClock, defect: Defect | null) {
  const inner = createMemoryStore()
  const audit = createAudit()
  const nodes = new Map<string, NodeTerm>()
  const epochs = new Map<SessionId, number>()
  const owners = new Map<SessionId, string | null>()
  const checksums = new Map<SessionId, number[]>()
  let acknowledged = 0

  const isLive = (id: string) => (nodes.get(id)?.endsAtMs ?? 0) > clock.now()
  const mayRun = (id: string) => nodes.get(id)?.isDraining !== true

  /** Compares head and epoch, as the function `append` does. A retried batch that is there already was committed. */
  async function appendOne(sent: SentAppend, isRetry: boolean, node: string): Promise<Result<void>> {
    const append = decodeAppend(sent)
    const { session, after } = append
    const [epoch, written, crcs] = [epochs.get(session) ?? 0, checksums.get(session) ?? [], checksumsOf(sent)]
    const isRecorded = crcs.every((crc, index) => written[after + index] === crc)
    if (isRetry && append.epoch === epoch && isRecorded) return done
    if (defect === 'the database acknowledges what it does not write' && ++acknowledged % 50 === 0) return done
    const given = defect === 'the database ignores epochs' ? { ...append, epoch } : append
    const appended = await inner.append(
      defect === 'the database accepts a command twice'
        ? { ...given, records: given.records.map(withoutCommand) }
        : given,
    )
    if (!appended.ok) return appended
    audit.wrote(append, node)
    checksums.set(session, [...written.slice(0, after), ...crcs])
    return appended
  }

  /** Returns the live owner of the nearest session that a session was started for. */
  async function liveOwnerAbove(session: SessionId): Promise<string | null> {
    const above = (await inner.entry(session))?.entry.meta.parent ?? null
    if (above === null) return null
    const owner = owners.get(above) ?? null
    return owner !== null && isLive(owner) ? owner : liveOwnerAbove(above)
  }

  const transact: Transact = createSerialQueue()
  return {
    audit,
    transact,
    /** The tables, read without a connection by the checks. */
    tables: inner,
    isLive,
    /** When the term of a node began; 0 if it has none. */
    termBeganMs: (id: string) => (nodes.get(id)?.endsAtMs ?? termMs) - termMs,
    ownerOf: (session: SessionId) => owners.get(session) ?? null,
    /** What a node asks of the database. All but `append` have the signatures of the ports. */
    statements: {
      ...inner,
      async append(changes: readonly SentAppend[], isRetry: boolean, node: string): Promise<readonly Result<void>[]> {
        const answers: Result<void>[] = []
        for (const sent of changes) answers.push(await appendOne(sent, isRetry, node))
        return answers
      },
      async create(session) {
        const created = await inner.create(session)
        if (!created.ok) return created
        epochs.set(session.session, 1)
        owners.set(session.session, session.owner)
        audit.owns(session.session, 1, session.owner)
        const append = { ...session, after: 0, epoch: 1, clearDraft: false, trust: [] }
        if (session.owner !== null) audit.wrote(append, session.owner)
        checksums.set(
          session.session,
          session.records.map(() => 0),
        )
        return created
      },
      async claim(session, owner, takeFrom) {
        const isCareless = defect === 'the database lets a live node be replaced'
        const isReplaceable = takeFrom !== null && (isCareless || !isLive(takeFrom))
        const before = owners.get(session) ?? null
        if (!mayRun(owner) && before !== owner) return refuse(fault('workdir_elsewhere', 'This node is about to stop.'))
        const claimed = await inner.claim(session, owner, isReplaceable ? takeFrom : null)
        if (!claimed.ok) return claimed
        if (before !== null && before !== owner && isLive(before))
          audit.violations.push(`${owner} takes ${session} from ${before}, which lives`)
        epochs.set(session, claimed.value.epoch)
        owners.set(session, owner)
        audit.owns(session, claimed.value.epoch, owner)
        return claimed
      },
      async release(session, owner, epoch) {
        await inner.release(session, owner, epoch)
        if (owners.get(session) !== owner || epochs.get(session) !== epoch) return
        epochs.set(session, epoch + 1)
        owners.set(session, null)
        audit.owns(session, epoch + 1, null)
      },
      nodes: async () =>
        [...nodes.values()].map(({ row: { id, address, startedAt } }) => ({
          id,
          address,
          startedAt,
          isLive: isLive(id),
        })),
      async removeNode(id, why) {
        if (why !== 'ended' || !isLive(id) || defect === 'the database removes a live node') nodes.delete(id)
      },
    } satisfies Record<string, unknown> & Omit<Store, 'append'>,
    cluster: {
      termMs,
      async join(row) {
        nodes.set(row.id, { row, endsAtMs: clock.now() + termMs, isDraining: nodes.get(row.id)?.isDraining ?? false })
      },
      // An ended term is not renewed: another node may be taking over right now.
      async renew(id) {
        const node = nodes.get(id)
        if (!node || !isLive(id)) return false
        node.endsAtMs = clock.now() + termMs
        return true
      },
      async drain(id) {
        const node = nodes.get(id)
        if (node) node.isDraining = true
      },
      async place(session, here) {
        const owner = owners.get(session) ?? null
        if (owner === here) return null
        if (owner !== null && isLive(owner)) return owner
        const beside = await liveOwnerAbove(session)
        if (beside !== null && beside !== here && mayRun(beside)) return beside
        if (mayRun(here)) return null
        return [...nodes.keys()].find((id) => id !== here && isLive(id) && mayRun(id)) ?? null
      },
    } satisfies Omit<Cluster, 'changes' | 'keyOf' | 'serving'>,
  }
}
