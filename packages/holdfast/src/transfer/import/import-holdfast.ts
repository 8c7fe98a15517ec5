import { createHash } from 'node:crypto'
import { noWorkdir, ok, type Recorded, type Result, SessionId } from '@holdfast/protocol'
import { chooseWorkdir } from './choose-workdir.ts'
import { dropOrigin, endRunningWork, readHoldfastLog } from './formats/holdfast.ts'
import type { ImportDeps } from './host/import-deps.ts'
import type { ImportOutcome } from './import-conversation.ts'
import type { Remark } from './parse/conversation.ts'
import type { SourceFile } from './parse/source-file.ts'
import { createTrustDropper, revokeTrust } from './write/drop-trust.ts'
import { createImportedLog, type ImportedLog, type LogBatch, type LogStart } from './write/imported-log.ts'
import { isPurgedSession, writeLog } from './write/write-log.ts'

/** Imports a Holdfast log. The last session of the file is the exported one; those before it are its ancestors. */
export async function importHoldfast(
  deps: ImportDeps,
  file: SourceFile,
  remark: Remark,
  { keepSettings }: { readonly keepSettings: boolean },
): Promise<Result<ImportOutcome>> {
  const dropper = createTrustDropper(remark)
  const logs = await readHoldfastLog(file, deps, remark, {
    async started(event) {
      const kept = keepSettings ? event : dropOrigin(event, remark)
      return { ...kept, workdir: await adoptWorkdir(deps, kept.workdir, remark) }
    },
    any: keepSettings ? (event) => event : dropper.drop,
  })
  if (!logs.ok) return logs
  const last = logs.value.at(-1)
  if (last === undefined) return ok({ status: 'empty', session: null, messages: 0 })
  const free = await deps.checkTrash(last.session)
  if (!free.ok) return free
  // A stored fork has the records it shares, even if its parent is gone.
  const stored = await deps.entry(last.session)
  const renamed = new Map<SessionId, SessionId>()

  async function importLog(log: EndedLog): Promise<Result<ImportOutcome>> {
    const written = await writeLog(deps, log, log.batches, { mayDropKey: true })
    if (!written.ok && isPurgedSession(written.fault, log.session)) return importRenamed(log)
    if (!written.ok) return written
    const { status, handleChanged, keyDropped } = written.value
    if (handleChanged) remark(null, 'handle_changed', 'Another session has its handle, so it got a new one.')
    if (keyDropped) remark(null, 'key_dropped', 'Another session has its key, so it was imported without one.')
    return ok({ status, session: log.session, messages: log.messages })
  }

  /** Imports a session under another id: its own is blocked while forks share the records of the purged session. */
  async function importRenamed(log: EndedLog): Promise<Result<ImportOutcome>> {
    // A concurrent import of the same file may have created it.
    if ((await deps.entry(log.session)) === null) {
      const session = deriveSessionId(log.session)
      renamed.set(log.session, session)
      const what = `Session ${log.session} was purged but a fork still shares its records; it is now ${session}.`
      remark(null, 'id_changed', what)
    }
    const copy = renameSessions(log, renamed)
    const free = await deps.checkTrash(copy.session)
    return free.ok ? importLog(copy) : free
  }

  let outcome: ImportOutcome = { status: 'empty', session: null, messages: 0 }
  for (const log of stored ? [last] : logs.value) {
    log.endSource()
    const now = deps.now()
    endRunningWork(log, now, remark)
    if (stored?.entry.spoken && dropper.hasDropped()) revokeTrust(log, now)
    await dropWorkdir(deps, log, now, remark)
    const ended = endLog(log)
    const imported = await importLog(renamed.size > 0 ? renameSessions(ended, renamed) : ended)
    if (!imported.ok) return imported
    outcome = imported.value
    if (outcome.status === 'changed') break
  }
  return ok(outcome)
}

const adoptWorkdir = async (deps: ImportDeps, named: string, remark: Remark): Promise<string> =>
  named === noWorkdir ? noWorkdir : chooseWorkdir(deps, named, remark)

/** Moves the session out of a folder that it moved to and may not adopt. */
async function dropWorkdir(deps: ImportDeps, log: ImportedLog, at: number, remark: Remark): Promise<void> {
  const named = log.folded.state.origin?.workdir ?? noWorkdir
  const workdir = await adoptWorkdir(deps, named, remark)
  if (workdir === noWorkdir && named !== noWorkdir) log.add({ type: 'settings.changed', workdir }, at)
}

/** A log that gets no more records. */
type EndedLog = LogStart & { readonly batches: readonly LogBatch[]; readonly messages: number }

const endLog = (log: ImportedLog): EndedLog => ({
  ...{ session: log.session, parent: log.parent, base: log.base },
  batches: log.takeAll(),
  messages: log.folded.row.entry.meta.messageCount,
})

/** Returns a copy of the log with renamed sessions. */
function renameSessions(log: EndedLog, renamed: ReadonlyMap<SessionId, SessionId>): EndedLog {
  const getNewId = (id: SessionId): SessionId => {
    const other = renamed.get(id)
    return other === undefined ? id : getNewId(other)
  }
  const { parent, base, batches } = log
  const newParent = parent === null ? null : getNewId(parent)
  const copy = createImportedLog({ session: getNewId(log.session), parent: newParent, base })
  for (const { records, isAdded } of batches) {
    if (isAdded) copy.endSource()
    for (const { record } of records) copy.addRecord(renameInRecord(record, getNewId))
  }
  return endLog(copy)
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
