import { existsSync } from 'node:fs'
import { fault, HoldfastError } from '@holdfast/protocol/fault'
import { orThrow } from '@holdfast/protocol/result'
import type { Finding, FindingCode } from '../../finding.ts'
import type { Quarantine, StoreAdmin, ToRepair } from '../../store-admin.ts'
import { openSqliteStore } from '../sqlite-store.ts'
import { checkBeside } from './check-beside.ts'
import { checkDatabase } from './check-database.ts'
import { copyDatabase, integrityOf } from './copy-database.ts'
import { pageStateOf, reindex } from './page-state.ts'
import { rebuildDatabase } from './rebuild-database.ts'
import { rawRows, repairDatabase } from './repair-database.ts'

/** A store file, and what lies beside it. */
export function createSqliteAdmin(path: string): StoreAdmin {
  return {
    quarantineDir: `${path}.quarantine`,
    checkFiles: () => checkBeside(path),
    checkInside: () => checkDatabase(path),
    async mend(found, quarantine) {
      if (found.findings.some(({ code }) => ofPages.has(code))) await mendPages(path, quarantine)
      await keepRows(path, found, quarantine)
      repairDatabase(path, found)
    },
    async mendIndexes(findings) {
      if (findings.some(({ code }) => ofPages.has(code))) await rebuildSearch(path)
    },
    async copyTo(copy) {
      await copyDatabase(path, copy)
      const wrong = integrityOf(copy)
      if (wrong === null) return
      const message = `The store at ${path} is damaged, and so would be its copy: ${wrong}. holdfast doctor tells more.`
      throw new HoldfastError(fault('storage_error', message, { reason: 'damaged', path }))
    },
  }
}

/** What a damaged page may be told as. */
const ofPages: ReadonlySet<FindingCode> = new Set(['damaged_file', 'search'])

async function mendPages(path: string, quarantine: Quarantine): Promise<void> {
  const state = pageStateOf(path)
  if (state === 'whole') return
  await keepFile(path, quarantine)
  if (state === 'stale_index') reindex(path)
  if (pageStateOf(path) === 'damaged') await rebuildDatabase(path)
}

async function keepFile(path: string, quarantine: Quarantine): Promise<void> {
  for (const file of [path, `${path}-wal`]) if (existsSync(file)) await quarantine.copy(file)
}

const changesRow: ReadonlySet<FindingCode> = new Set(['row', 'head'])

async function keepRows(path: string, { findings }: ToRepair, quarantine: Quarantine): Promise<void> {
  const changed = findings.filter(({ code }: Finding) => changesRow.has(code))
  const sessions = [...new Set(changed.map(({ place }) => place))]
  if (sessions.length > 0) await quarantine.note('rows.jsonl', rawRows(path, sessions))
}

async function rebuildSearch(path: string): Promise<void> {
  const store = orThrow(await openSqliteStore({ path }))
  try {
    orThrow(await store.rebuildSearch())
  } finally {
    await store.close()
  }
}
