import { type Event, Handle, invariant, ok, type Result, type Seq, type SessionId } from '@holdfast/protocol'
import { blobsIn, encodeRecords } from '../log/encode-records.ts'
import { type Folded, fold } from '../log/load-session.ts'
import type { NodeDeps } from '../node-deps.ts'

const handleTriesMax = 20

export type NewLog = {
  readonly session: SessionId
  /** Of a fork: whose records it reads up to `base`. Otherwise null and 0. */
  readonly parent: SessionId | null
  readonly base: Seq
  /** Its first records, under the handle it gets. */
  readonly events: (handle: Handle) => readonly Event[]
}

/** Writes a session's first records, owned by this node, under a handle that nobody has. */
export async function createSession(
  parts: NodeDeps,
  { session, parent, base, events }: NewLog,
): Promise<Result<SessionId>> {
  for (let attempt = 0; ; attempt++) {
    const first = { events: events(Handle.parse(parts.newHandle(attempt))), commandId: null, by: null }
    const records = encodeRecords({ after: base, atMs: parts.clock.now(), ...first })
    const folded = records.reduce<Folded | null>((sum, { record }) => fold(sum, session, record), null)
    invariant(folded, 'a session begins with a record')
    const { entry } = folded.row
    const blobs = blobsIn(first.events)
    const created = await parts.store.create({ session, parent, base, owner: parts.node.id, records, entry, blobs })
    if (created.ok) return ok(session)
    if (created.fault.code !== 'handle_taken' || attempt >= handleTriesMax) return created
  }
}
