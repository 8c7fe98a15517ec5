import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FindingCode } from '../../finding.ts'
import type { Quarantine, StoreAdmin, ToRepair } from '../../store-admin.ts'
import { createJsonlPaths } from '../files/layout.ts'
import { checkDirectory, checkNames } from './check-directory.ts'
import { copyLogs } from './copy-directory.ts'

/** A directory of logs; opening it puts torn ends aside, and makes the catalogue anew from the logs. */
export function createJsonlAdmin(directory: string): StoreAdmin {
  return {
    quarantineDir: join(directory, 'quarantine'),
    checkFiles: async (isHeld) => [...(await checkNames(directory)), ...(await checkDirectory(directory, isHeld))],
    checkInside: () => [],
    async mend(found, quarantine) {
      await keepCatalogue(directory, found, quarantine)
      await moveSnapshots(directory, found, quarantine)
    },
    async mendIndexes() {},
    copyTo: (path) => copyLogs(directory, path),
  }
}

const changesCatalogue: ReadonlySet<FindingCode> = new Set(['catalogue', 'row', 'head', 'missing_log'])

/** It is the only word that is left of a session whose log is gone. */
async function keepCatalogue(directory: string, { findings }: ToRepair, quarantine: Quarantine): Promise<void> {
  const { catalogue } = createJsonlPaths(directory)
  const isChanged = findings.some(({ code }) => changesCatalogue.has(code))
  if (isChanged && existsSync(catalogue)) await quarantine.copy(catalogue)
}

async function moveSnapshots(directory: string, { mends }: ToRepair, quarantine: Quarantine): Promise<void> {
  const places = createJsonlPaths(directory)
  for (const { session, dropsSnapshot } of mends) {
    if (dropsSnapshot && existsSync(places.snapshot(session))) await quarantine.move(places.snapshot(session))
  }
}
