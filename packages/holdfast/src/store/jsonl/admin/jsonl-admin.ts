import { constants, existsSync } from 'node:fs'
import { chmod, copyFile, type FileHandle, mkdir, open, readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Seq } from '@holdfast/protocol'
import { HoldfastError } from '@holdfast/protocol/fault'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { temporaryMark } from '../../disk.ts'
import {
  error,
  type Finding,
  type FindingCode,
  info,
  listNames,
  lstatIfThere,
  modeFindings,
  unfinishedFile,
  warning,
} from '../../finding.ts'
import type { Quarantine, StoreAdmin } from '../../store-admin.ts'
import { readCatalogue } from '../catalogue/catalogue-file.ts'
import { parseTrash } from '../catalogue/trash-file.ts'
import { createJsonlPaths, type FoundLog, findDirectoryFault, findLogs, isOurs } from '../files/layout.ts'
import { loadLog } from '../log/load-log.ts'

const changesCatalogue: ReadonlySet<FindingCode> = new Set(['catalogue', 'row', 'head', 'missing_log'])

/** Checks, repairs and copies a JSONL store. Opening the store moves torn ends aside and rebuilds the catalogue. */
export function createJsonlAdmin(directory: string): StoreAdmin {
  const paths = createJsonlPaths(directory)
  return {
    quarantineDir: join(directory, 'quarantine'),
    checkFiles: (isHeld) => checkDirectory(directory, isHeld),
    checkInside: () => [],
    // Each log is repaired by itself.
    hasDamagedPages: () => false,
    copyReadableTo: async () => null,
    saveDamaged: async () => undefined,
    replaceWith: async () => undefined,
    findReplacement: async () => null,
    putBack: async () => undefined,
    async repair({ findings, repairs, removals }, quarantine) {
      for (const { code, subject } of findings) if (savedCodes.has(code)) await returnSavedLog(subject, quarantine)
      // If a session's log is missing, only its catalogue row is left.
      const isChanged = findings.some(({ code }) => changesCatalogue.has(code))
      if (isChanged && existsSync(paths.catalogue)) await quarantine.copy(paths.catalogue)
      for (const { session, dropsSnapshot } of repairs) {
        if (dropsSnapshot && existsSync(paths.snapshot(session))) await quarantine.move(paths.snapshot(session))
      }
      for (const { session } of removals) {
        for (const log of [paths.log(session, false), paths.log(session, true)])
          if (existsSync(log)) await quarantine.copy(log)
      }
    },
    async rebuildIndexes() {},
    copyTo: (path) => copyDirectory(directory, path),
  }
}

/** Files about the process that holds the directory, and files that can be rebuilt. */
const skipped = new Set(['.lock', 'holder.json', 'nodes.json', 'catalogue.jsonl'])

/**
 * Copies a store directory, each log up to the end of a complete batch. Copies the newest sessions first, so that the
 * copy of a parent always has the records that its forks share.
 */
async function copyDirectory(from: string, to: string): Promise<void> {
  const [source, target] = [createJsonlPaths(from), createJsonlPaths(to)]
  const refusal = await findDirectoryFault(source)
  if (refusal !== null) throw new HoldfastError(refusal)
  await mkdir(to, { mode: 0o700 })
  await chmod(to, 0o700)
  const logs = (await findLogs(source)).toSorted((one, other) => (one.id < other.id ? 1 : -1))
  for (const log of logs) await copyLog(log, source.log(log.id, log.isShared), target.log(log.id, log.isShared))
  for (const name of await readdir(from)) {
    if (/^\w+\.json$/.test(name) && !skipped.has(name)) await copyPrivate(join(from, name), join(to, name))
  }
  await copyDrafts(source.drafts, target.drafts)
  await syncDirectory(to)
}

async function copyLog({ id, isShared }: FoundLog, from: string, to: string): Promise<void> {
  if (!(await copyPrivate(from, to))) return // removed in the meantime
  const loaded = await loadLog({ path: to, session: id, known: null, isShared, leavesTail: true })
  if (loaded === null || loaded.torn === null) return
  await using file = await open(to, 'r+')
  await file.truncate(loaded.end) // the batch was still being written
  await file.sync()
}

async function copyDrafts(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 })
  await chmod(to, 0o700)
  for (const name of await listNames(from))
    if (!name.includes(temporaryMark)) await copyPrivate(join(from, name), join(to, basename(name)))
  await syncDirectory(to)
}

/** Copies a file with mode 0600; returns false if the source no longer exists. */
async function copyPrivate(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL)
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return false
    throw error
  }
  await using file = await open(to, 'r+')
  await file.chmod(0o600)
  await file.sync()
  return true
}

/** Returns everything wrong with a store directory, apart from its records. */
export async function checkDirectory(directory: string, isHeld: boolean): Promise<readonly Finding[]> {
  return [...(await checkNames(directory)), ...(await checkLogs(directory, isHeld))]
}

/** Returns the findings about the logs, the catalogue and the trash list, apart from the records. */
async function checkLogs(directory: string, isHeld: boolean): Promise<readonly Finding[]> {
  const paths = createJsonlPaths(directory)
  const findings: Finding[] = []
  const catalogue = await readCatalogue(paths.catalogue)
  const logs = await findLogs(paths)
  if (existsSync(paths.catalogue) && !catalogue.isWhole && !isHeld) {
    const what = 'the catalogue cannot be read completely'
    findings.push(warning({ code: 'catalogue', subject: paths.catalogue, what }))
  }
  if (existsSync(paths.trash) && parseTrash(await readFile(paths.trash, 'utf8')) === null) {
    findings.push(warning({ code: 'trash', subject: paths.trash, what: 'the trash list is damaged' }))
  }
  for (const { id, isShared, bytes } of logs) {
    const path = paths.log(id, isShared)
    const known = catalogue.rows.get(id) ?? null
    const loaded = await loadLog({ path, session: id, known, isShared, leavesTail: true })
    if (loaded === null && (await lstatIfThere(path)) === null) continue // removed in the meantime
    if (loaded === null) {
      const what = 'it is named like a log but is not one; it is left alone'
      findings.push(error({ code: 'unusable', subject: path, what }))
      continue
    }
    const { torn, header } = loaded
    if (header === null)
      findings.push(error({ code: 'damaged_file', subject: path, what: 'its first line is damaged' }))
    if (isHeld) continue // an append may be in progress, and the catalogue follows the logs
    const head = loaded.index.head()
    if (known !== null && head < known.head) {
      const what = `it ends at ${head} but went up to ${known.head} before: the missing records cannot be recovered`
      const loss = `${describeSpan(head, known.head)} of ${id}`
      findings.push(error({ code: 'head', subject: path, what, canRepair: true, loss }))
    }
    if (torn !== null) {
      const what = `its last ${torn.bytes} bytes belong to an append that was never acknowledged`
      findings.push(warning({ code: 'torn_tail', subject: path, what }))
    } else if (existsSync(paths.catalogue) && (known === null || known.bytes !== bytes) && catalogue.isWhole) {
      findings.push(warning({ code: 'catalogue', subject: path, what: 'the catalogue does not match this log' }))
    }
  }
  const saved = (await readdir(directory)).flatMap((name) => savedLogName.exec(name)?.[1] ?? [])
  const existing = new Set<string>([...logs.map(({ id }) => id), ...saved.map((name) => name.replace('.jsonl', ''))])
  for (const { id, isShared, base, head } of isHeld ? [] : catalogue.rows.values()) {
    if (existing.has(id)) continue
    const what = 'the log of a session is missing; without it the session is lost'
    const loss = `session ${id} with ${describeSpan(base, head)}`
    findings.push(error({ code: 'missing_log', subject: paths.log(id, isShared), what, canRepair: true, loss }))
  }
  return findings
}

const describeSpan = (after: Seq, upTo: Seq): string =>
  upTo - after === 1 ? `record ${upTo}` : `records ${after + 1} to ${upTo}`

/** Returns the findings about file names and modes: readable by others, foreign files, unfinished files. */
async function checkNames(directory: string): Promise<readonly Finding[]> {
  const findings: Finding[] = [...(await modeFindings(directory))]
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    const found = await lstatIfThere(path)
    if (found === null) continue
    if (name.includes(temporaryMark)) findings.push(unfinishedFile(path))
    else if (/\.torn-\d+$/.test(name))
      findings.push(createAsideFinding(path, 'the half-written end of a log after a crash; it was never acknowledged'))
    else if (savedLogName.test(name)) findings.push(await checkSavedLog(path))
    else if (/^trash\.json\.damaged-\d+$/.test(name))
      findings.push(
        createAsideFinding(path, 'a damaged trash list that was moved aside; its sessions are listed again'),
      )
    else if (!found.isFile()) {
      if (['drafts', 'snapshots', 'blobs', 'quarantine'].includes(name)) findings.push(...(await modeFindings(path)))
      else findings.push(createForeignFinding(path))
    } else if (isOurs(name) || name === '.lock') findings.push(...(await modeFindings(path)))
    else findings.push(createForeignFinding(path))
  }
  for (const side of ['drafts', 'snapshots']) {
    for (const name of existsSync(join(directory, side)) ? await readdir(join(directory, side)) : []) {
      const path = join(directory, side, name)
      findings.push(...(name.includes(temporaryMark) ? [unfinishedFile(path)] : await modeFindings(path)))
    }
  }
  return findings
}

/** What a saved log is reported with. No other finding with these codes can be repaired. */
const savedCodes: ReadonlySet<FindingCode> = new Set(['saved_copy', 'kept_aside'])
const savedLogName = /^(.+\.jsonl)\.recovered-\d+$/

type SavedLog = {
  /** The log that the copy was saved of. */
  readonly log: string
  /** Whether the log has all of the copy, is its beginning, or is another one. */
  readonly state: 'same' | 'ahead' | 'apart'
}

async function compareSavedLog(saved: string): Promise<SavedLog> {
  const log = saved.replace(/\.recovered-\d+$/, '')
  if (!existsSync(log)) return { log, state: 'ahead' }
  await using copy = await open(saved)
  await using own = await open(log)
  const [copied, owned] = [(await copy.stat()).size, (await own.stat()).size]
  if (!(await isSameUpTo(copy, own, Math.min(copied, owned)))) return { log, state: 'apart' }
  return { log, state: copied > owned ? 'ahead' : 'same' }
}

const comparedBytes = 1024 * 1024

async function isSameUpTo(one: FileHandle, other: FileHandle, end: number): Promise<boolean> {
  const [left, right] = [Buffer.alloc(comparedBytes), Buffer.alloc(comparedBytes)]
  for (let at = 0; at < end; at += comparedBytes) {
    const length = Math.min(comparedBytes, end - at)
    await Promise.all([one.read(left, 0, length, at), other.read(right, 0, length, at)])
    if (!left.subarray(0, length).equals(right.subarray(0, length))) return false
  }
  return true
}

async function checkSavedLog(path: string): Promise<Finding> {
  const what = 'a log that was saved when another program moved, removed or replaced it'
  const { state } = await compareSavedLog(path)
  if (state === 'same')
    return info({
      code: 'kept_aside',
      subject: path,
      what: `${what}; its session has all its records`,
      canRepair: true,
    })
  const more = state === 'ahead' ? 'its last records are only there' : 'its session went on without it'
  return error({ code: 'saved_copy', subject: path, what: `${what}; ${more}`, canRepair: state === 'ahead' })
}

/** Puts the records of a saved log back. What was in its place is a part of them. */
async function returnSavedLog(saved: string, quarantine: Quarantine): Promise<void> {
  const { log, state } = await compareSavedLog(saved)
  if (state === 'ahead') {
    if (existsSync(log)) await quarantine.move(log)
    await copyPrivate(saved, log)
    await syncDirectory(dirname(log))
  }
  if (state !== 'apart') await quarantine.move(saved)
}

const createAsideFinding = (path: string, what: string): Finding => info({ code: 'kept_aside', subject: path, what })
const createForeignFinding = (path: string): Finding =>
  info({ code: 'foreign_file', subject: path, what: 'not a file of this store; it is left alone' })
