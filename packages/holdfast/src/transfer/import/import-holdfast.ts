import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { ok, type Recorded, type Result, SessionId } from '@holdfast/protocol'
import { endRunningWork, readHoldfastLog } from './formats/holdfast.ts'
import type { ImportOutcome } from './import-conversation.ts'
import type { Remark } from './parse/conversation.ts'
import { createImportedLog, type ImportedLog } from './write/imported-log.ts'
import { checkTrash, type ImportDeps, isPurgedSession, writeLog } from './write/write-log.ts'

/** Imports a Holdfast log. The last session of the file is the exported one; those before it are its ancestors. */
export async function importHoldfast(
  deps: ImportDeps,
  file: FileHandle,
  remark: Remark,
): Promise<Result<ImportOutcome>> {
  const logs = await readHoldfastLog(file, deps.blobs, remark)
  if (!logs.ok) return logs
  const last = logs.value.at(-1)
  if (last === undefined) return ok({ status: 'empty', session: null, messages: 0 })
  const free = await checkTrash(deps, last.session)
  if (!free.ok) return free
  // A stored fork has the records it shares, even if its parent is gone.
  const isStored = (await deps.stores.entry(last.session)) !== null
  const renamed = new Map<SessionId, SessionId>()

  async function importLog(log: ImportedLog, sourceRecords: number): Promise<Result<ImportOutcome>> {
    const written = await writeLog(deps, log, { sourceRecords, mayDropKey: true })
    if (!written.ok && isPurgedSession(written.fault, log.session)) return importRenamed(log, sourceRecords)
    if (!written.ok) return written
    const { status, handleChanged, keyDropped } = written.value
    if (handleChanged) remark(null, 'handle_changed', 'Another session has its handle, so it got a new one.')
    if (keyDropped) remark(null, 'key_dropped', 'Another session has its key, so it was imported without one.')
    return ok({ status, session: log.session, messages: log.folded.row.entry.meta.messageCount })
  }

  /** Imports a session under another id: its own is blocked while forks share the records of the purged session. */
  async function importRenamed(log: ImportedLog, sourceRecords: number): Promise<Result<ImportOutcome>> {
    // A concurrent import of the same file may have created it.
    if ((await deps.stores.entry(log.session)) === null) {
      const session = deriveSessionId(log.session)
      renamed.set(log.session, session)
      const what = `Session ${log.session} was purged but a fork still shares its records; it is now ${session}.`
      remark(null, 'id_changed', what)
    }
    const copy = renameSessions(log, renamed)
    const free = await checkTrash(deps, copy.session)
    return free.ok ? importLog(copy, sourceRecords) : free
  }

  let outcome: ImportOutcome = { status: 'empty', session: null, messages: 0 }
  for (const log of isStored ? [last] : logs.value) {
    const one = renamed.size > 0 ? renameSessions(log, renamed) : log
    const sourceRecords = one.records.length
    endRunningWork(one, deps.clock.now(), remark)
    const imported = await importLog(one, sourceRecords)
    if (!imported.ok) return imported
    outcome = imported.value
    if (outcome.status === 'changed') break
  }
  return ok(outcome)
}

/** Returns a copy of the log with renamed sessions. */
function renameSessions(log: ImportedLog, renamed: ReadonlyMap<SessionId, SessionId>): ImportedLog {
  const getNewId = (id: SessionId): SessionId => {
    const other = renamed.get(id)
    return other === undefined ? id : getNewId(other)
  }
  const { parent, base, records } = log
  const newParent = parent === null ? null : getNewId(parent)
  const copy = createImportedLog({ session: getNewId(log.session), parent: newParent, base })
  for (const { record } of records) copy.addRecord(renameInRecord(record, getNewId))
  return copy
}

function renameInRecord(record: Recorded, getNewId: (id: SessionId) => SessionId): Recorded {
  const { event } = record
  if (event.type !== 'session.started') return record
  const { parent, fork } = event
  const lineage = fork?.lineage.map((one) => ({ ...one, session: getNewId(one.session) }))
  const ids = { ...(parent && { parent: getNewId(parent) }), ...(fork && lineage && { fork: { ...fork, lineage } }) }
  return { ...record, event: { ...event, ...ids } }
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** `ses_` and the characters of the creation time. */
const timeChars = 14
const idChars = 30

/** Derives a new id with the same creation time. The same id always gives the same one, so a second import finds it. */
function deriveSessionId(id: SessionId): SessionId {
  const digest = createHash('sha256').update(id).digest()
  const rest = [...digest.subarray(0, idChars - timeChars)].map((byte) => alphabet.charAt(byte & 31)).join('')
  return SessionId.parse(`${id.slice(0, timeChars)}${rest}`)
}
