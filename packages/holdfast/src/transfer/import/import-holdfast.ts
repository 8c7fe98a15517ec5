import { createHash } from 'node:crypto'
import { type BlobHash, type Event, noWorkdir, ok, type Result, SessionId } from '@holdfast/protocol'
import { chooseWorkdir } from './choose-workdir.ts'
import {
  dropOrigin,
  endRunningWork,
  findSessions,
  type LoggedSession,
  readSession,
  remarkMissingBlobs,
  type Started,
  unlinkSubagent,
} from './formats/holdfast.ts'
import type { ImportDeps } from './host/import-deps.ts'
import type { ImportOutcome } from './import-conversation.ts'
import type { Remark } from './parse/conversation.ts'
import type { SourceFile } from './parse/source-file.ts'
import { createTrustDropper, dropFileContents, dropPayer, revokeTrust } from './write/drop-trust.ts'
import { createImportedLog, type ImportedLog, type LogBatch } from './write/imported-log.ts'
import { isPurgedSession, writeLog } from './write/write-log.ts'

/**
 * Imports a Holdfast log. The last session of the file is the exported one; those before it are its ancestors. The file is
 * read twice, to find its sessions and then to write them in batches, so that its size does not matter.
 */
export async function importHoldfast(
  deps: ImportDeps,
  file: SourceFile,
  remarkAll: Remark,
  { keepSettings }: { readonly keepSettings: boolean },
): Promise<Result<ImportOutcome>> {
  const { remark, remarkNew, isDamaged } = createRemarks(remarkAll)
  const dropper = createTrustDropper(remark)
  const sessions = findSessions(file, remark)
  if (!sessions.ok) return sessions
  const last = sessions.value.at(-1)
  if (last === undefined) return ok({ status: 'empty', session: null, messages: 0 })
  const free = await deps.checkTrash(last.session)
  if (!free.ok) return free
  // A stored fork has the records it shares, even if its parent is gone.
  const stored = await deps.entry(last.session)
  const renamed = new Map<SessionId, SessionId>()
  const getNewId = (id: SessionId): SessionId => {
    const other = renamed.get(id)
    return other === undefined ? id : getNewId(other)
  }
  const named = new Set<BlobHash>()

  /** Reads the records of a session, then adds those that bring it to rest. */
  async function* readBatches(source: LoggedSession, log: ImportedLog, remark: Remark): AsyncGenerator<LogBatch> {
    const changes = {
      async started(event: Started) {
        const known = source === last ? (stored?.entry.meta ?? null) : null
        const bare = keepSettings ? event : dropOrigin(unlinkSubagent(event, known, remark), remark)
        const kept = renameInStarted(bare, getNewId)
        return { ...kept, workdir: await adoptWorkdir(deps, kept.workdir, remark) }
      },
      any: keepSettings ? (event: Event) => event : (event: Event) => dropper.drop(dropPayer(dropFileContents(event))),
    }
    for await (const _ of readSession(file, source, log, { host: deps, remark, changes, named })) yield* log.takeFull()
    log.endSource()
    const now = deps.now()
    endRunningWork(log, now, remark)
    if (stored?.entry.spoken && dropper.hasDropped()) revokeTrust(log, now)
    await dropWorkdir(deps, log, now, remark)
    yield* log.takeAll()
  }

  async function importSession(source: LoggedSession, remark: Remark): Promise<Result<ImportOutcome>> {
    const parent = source.parent === null ? null : getNewId(source.parent)
    const start = { session: getNewId(source.session), parent, base: source.base }
    const log = createImportedLog(start)
    const written = await writeLog(deps, start, readBatches(source, log, remark), { mayDropKey: true })
    if (!written.ok && isPurgedSession(written.fault, log.session)) return importRenamed(source, log.session)
    if (!written.ok) return written
    const { status, handleChanged, keyDropped } = written.value
    if (handleChanged) remark(null, 'handle_changed', 'Another session has its handle, so it got a new one.')
    if (keyDropped) remark(null, 'key_dropped', 'Another session has its key, so it was imported without one.')
    return ok({ status, session: log.session, messages: log.folded().row.entry.meta.messageCount })
  }

  /** Imports a session under another id: its own is blocked while forks share the records of the purged session. */
  async function importRenamed(source: LoggedSession, refused: SessionId): Promise<Result<ImportOutcome>> {
    // A concurrent import of the same file may have created it.
    if ((await deps.entry(refused)) === null) {
      const session = deriveSessionId(refused)
      renamed.set(refused, session)
      const what = `Session ${refused} was purged but a fork still shares its records; it is now ${session}.`
      remark(null, 'id_changed', what)
    }
    const free = await deps.checkTrash(getNewId(source.session))
    return free.ok ? importSession(source, remarkNew) : free
  }

  let outcome: ImportOutcome = { status: 'empty', session: null, messages: 0 }
  for (const source of stored ? [last] : sessions.value) {
    const imported = await importSession(source, remark)
    if (!imported.ok) return imported
    outcome = imported.value
    if (outcome.status === 'changed') break
  }
  if (outcome.status === 'same' && stored) await readAncestors(file, sessions.value.slice(0, -1), remark)
  await remarkMissingBlobs(named, deps, remark)
  // A damaged file says less than the session that is stored.
  return ok(outcome.status === 'same' && isDamaged() ? { ...outcome, status: 'changed' } : outcome)
}

/** Reads the sessions that a stored fork shares its past with, only to remark on damage: their records are stored. */
async function readAncestors(file: SourceFile, sources: readonly LoggedSession[], remark: Remark): Promise<void> {
  const host = { putBlob: async () => ok(undefined), hasBlob: async () => true }
  const changes = { started: async (event: Started) => event, any: (event: Event) => event }
  for (const source of sources) {
    const log = createImportedLog(source)
    for await (const _ of readSession(file, source, log, { host, remark, changes, named: new Set() })) log.takeFull()
  }
}

/** `remarkNew` skips what was remarked before: a session whose id is refused is read twice. */
function createRemarks(remarkAll: Remark) {
  const made = new Set<string>()
  let isDamaged = false
  const remark: Remark = (line, code, what) => {
    made.add(`${line} ${code}`)
    isDamaged ||= code === 'damaged_line' || code === 'line_too_long'
    remarkAll(line, code, what)
  }
  const remarkNew: Remark = (line, code, what) => (made.has(`${line} ${code}`) ? undefined : remark(line, code, what))
  return { remark, remarkNew, isDamaged: () => isDamaged }
}

const adoptWorkdir = async (deps: ImportDeps, named: string, remark: Remark): Promise<string> =>
  named === noWorkdir ? noWorkdir : chooseWorkdir(deps, named, remark)

/** Moves the session out of a folder that it moved to and may not adopt. */
async function dropWorkdir(deps: ImportDeps, log: ImportedLog, at: number, remark: Remark): Promise<void> {
  const named = log.folded().state.origin?.workdir ?? noWorkdir
  const workdir = await adoptWorkdir(deps, named, remark)
  if (workdir === noWorkdir && named !== noWorkdir) log.add({ type: 'settings.changed', workdir }, at)
}

/** Renames the sessions that a session was started for or shares records with. */
function renameInStarted(event: Started, getNewId: (id: SessionId) => SessionId): Started {
  const { parent, fork } = event
  const lineage = fork?.lineage.map((one) => ({ ...one, session: getNewId(one.session) }))
  const ids = { ...(parent && { parent: getNewId(parent) }), ...(fork && lineage && { fork: { ...fork, lineage } }) }
  return { ...event, ...ids }
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
