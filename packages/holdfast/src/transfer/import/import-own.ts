import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { ok, type Recorded, type Result, SessionId } from '@holdfast/protocol'
import { bringToRest, readOwnLog } from './formats/holdfast.ts'
import type { Fate } from './import-conversation.ts'
import type { Remark } from './parse/conversation.ts'
import { createPast, type Past } from './write/past.ts'
import { checkTrash, type ImportDeps, isRemains, type Written, writePast } from './write/write-past.ts'

/** The last session of the file is the one that was written out; those before it are the past it shares. */
export async function importOwn(parts: ImportDeps, file: FileHandle, remark: Remark): Promise<Result<Fate>> {
  const pasts = await readOwnLog(file, parts.blobs, remark)
  if (!pasts.ok) return pasts
  const last = pasts.value.at(-1)
  if (last === undefined) return ok({ status: 'empty', session: null, messages: 0 })
  const free = await checkTrash(parts, last.session)
  if (!free.ok) return free
  // A fork that is here has the past it shares, even where the session it came from is gone.
  const isHere = (await parts.store.entry(last.session)) !== null
  const renamed = new Map<SessionId, SessionId>()
  let fate: Fate = { status: 'empty', session: null, messages: 0 }
  for (const past of isHere ? [last] : pasts.value) {
    const one = renamed.size > 0 ? copyOf(past, renamed) : past
    const given = one.records.length
    bringToRest(one, parts.clock.now(), remark)
    const taken = await takeOne(parts, one, given, renamed, remark)
    if (!taken.ok) return taken
    fate = taken.value
    if (fate.status === 'changed') return ok(fate)
  }
  return ok(fate)
}

async function takeOne(
  parts: ImportDeps,
  past: Past,
  given: number,
  renamed: Map<SessionId, SessionId>,
  remark: Remark,
): Promise<Result<Fate>> {
  const written = await writePast(parts, past, { given, keyMayGo: true })
  if (!written.ok && isRemains(written.fault, past.session)) return takeCopy(parts, past, given, renamed, remark)
  if (!written.ok) return written
  tell(written.value, remark)
  const { status } = written.value
  return ok({ status, session: past.session, messages: past.folded.row.entry.meta.messageCount })
}

/** The id cannot be had again while forks share what is left of the session: it comes back under another. */
async function takeCopy(
  parts: ImportDeps,
  past: Past,
  given: number,
  renamed: Map<SessionId, SessionId>,
  remark: Remark,
): Promise<Result<Fate>> {
  // Another import of the same file may have made it just now.
  if ((await parts.store.entry(past.session)) === null) {
    const session = idAfter(past.session)
    renamed.set(past.session, session)
    remark(
      null,
      'id_changed',
      `Session ${past.session} was removed while a fork shares its past; it is now ${session}.`,
    )
  }
  const copy = copyOf(past, renamed)
  const free = await checkTrash(parts, copy.session)
  return free.ok ? takeOne(parts, copy, given, renamed, remark) : free
}

function tell({ handleChanged, keyDropped }: Written, remark: Remark): void {
  if (handleChanged) remark(null, 'handle_changed', 'Another session has its handle; it got a new one.')
  if (keyDropped) remark(null, 'key_dropped', 'Another session has its key; it came without one.')
}

/** The same past under other ids. */
function copyOf(past: Past, renamed: ReadonlyMap<SessionId, SessionId>): Past {
  const nameOf = (id: SessionId): SessionId => {
    const other = renamed.get(id)
    return other === undefined ? id : nameOf(other)
  }
  const { parent, base, records } = past
  const copy = createPast({ session: nameOf(past.session), parent: parent === null ? null : nameOf(parent), base })
  for (const { record } of records) copy.addRecord(withIds(record, nameOf))
  return copy
}

function withIds(record: Recorded, nameOf: (id: SessionId) => SessionId): Recorded {
  const { event } = record
  if (event.type !== 'session.started') return record
  const { parent, fork } = event
  const lineage = fork?.lineage.map((one) => ({ ...one, session: nameOf(one.session) }))
  return {
    ...record,
    event: {
      ...event,
      ...(parent !== undefined && { parent: nameOf(parent) }),
      ...(fork && lineage && { fork: { ...fork, lineage } }),
    },
  }
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** `ses_` and the letters that say when. */
const bornChars = 14
const idChars = 30

/** Of the same id always the same one, with its time of birth: who imports the file again finds what it became. */
function idAfter(id: SessionId): SessionId {
  const digest = createHash('sha256').update(id).digest()
  const rest = [...digest.subarray(0, idChars - bornChars)].map((byte) => alphabet.charAt(byte & 31)).join('')
  return SessionId.parse(`${id.slice(0, bornChars)}${rest}`)
}
