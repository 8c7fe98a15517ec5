import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FindingCode } from '../../finding.ts'
import type { StoreAdmin } from '../../store-admin.ts'
import { createJsonlPaths } from '../files/layout.ts'
import { checkDirectory } from './check-directory.ts'
import { copyDirectory } from './copy-directory.ts'

const changesCatalogue: ReadonlySet<FindingCode> = new Set(['catalogue', 'row', 'head', 'missing_log'])

/** Checks, repairs and copies a JSONL store. Opening the store moves torn ends aside and rebuilds the catalogue. */
export function createJsonlAdmin(directory: string): StoreAdmin {
  const paths = createJsonlPaths(directory)
  return {
    quarantineDir: join(directory, 'quarantine'),
    checkFiles: (isHeld) => checkDirectory(directory, isHeld),
    checkInside: () => [],
    async repair({ findings, repairs }, quarantine) {
      // Of a session whose log is missing, only the catalogue is left.
      const isChanged = findings.some(({ code }) => changesCatalogue.has(code))
      if (isChanged && existsSync(paths.catalogue)) await quarantine.copy(paths.catalogue)
      for (const { session, dropsSnapshot } of repairs) {
        if (dropsSnapshot && existsSync(paths.snapshot(session))) await quarantine.move(paths.snapshot(session))
      }
    },
    async rebuildIndexes() {},
    copyTo: (path) => copyDirectory(directory, path),
  }
}
