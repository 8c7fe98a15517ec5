import { existsSync } from 'node:fs'
import { fault, HoldfastError } from '@holdfast/protocol/fault'
import { orThrow } from '@holdfast/protocol/result'
import type { FindingCode } from '../../finding.ts'
import type { Quarantine, StoreAdmin } from '../../store-admin.ts'
import { openSqliteStore } from '../sqlite-store.ts'
import { checkDatabase, checkFiles } from './check-database.ts'
import { readPageState, reindex } from './check-pages.ts'
import { copyDatabase } from './copy-database.ts'
import { rebuildDatabase } from './rebuild-database.ts'
import { readRawRows, repairDatabase } from './repair-database.ts'

/** The codes that a damaged page may be reported with. */
const pageCodes: ReadonlySet<FindingCode> = new Set(['damaged_file', 'search'])
const rowCodes: ReadonlySet<FindingCode> = new Set(['row', 'head'])

/** Checks, repairs and copies a store file and the files beside it. */
export function createSqliteAdmin(path: string): StoreAdmin {
  return {
    quarantineDir: `${path}.quarantine`,
    checkFiles: () => checkFiles(path),
    checkInside: () => checkDatabase(path),
    async repair(found, quarantine) {
      if (found.findings.some(({ code }) => pageCodes.has(code))) await repairPages(path, quarantine)
      const changed = new Set(found.findings.filter(({ code }) => rowCodes.has(code)).map(({ place }) => place))
      if (changed.size > 0) await quarantine.note('rows.jsonl', readRawRows(path, [...changed]))
      repairDatabase(path, found)
    },
    async rebuildIndexes(findings) {
      if (!findings.some(({ code }) => pageCodes.has(code))) return
      const store = orThrow(await openSqliteStore({ path }))
      try {
        orThrow(await store.rebuildSearch())
      } finally {
        await store.close()
      }
    },
    async copyTo(copy) {
      const problem = await copyDatabase(path, copy)
      if (problem === null) return
      const message = `The store at ${path} is damaged, so its copy would be too: ${problem}. Run holdfast doctor for details.`
      throw new HoldfastError(fault('storage_error', message, { reason: 'damaged', path }))
    },
  }
}

async function repairPages(path: string, quarantine: Quarantine): Promise<void> {
  const state = readPageState(path)
  if (state === 'whole') return
  for (const file of [path, `${path}-wal`]) if (existsSync(file)) await quarantine.copy(file)
  if (state === 'stale_index') reindex(path)
  if (readPageState(path) === 'damaged') await rebuildDatabase(path)
}
