import { chmod, lstat } from 'node:fs/promises'
import type { OnProblem } from '@holdfast/core/ports'
import { orThrow } from '@holdfast/protocol'
import { adminOf } from '../../store/open/admin-of.ts'
import { openDiskStore } from '../../store/open/open-storage.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import type { Looked } from './check-store.ts'
import { createQuarantine } from './quarantine.ts'
import { repairNode, repairSession } from './repair-sessions.ts'

type Problem = Parameters<OnProblem>[0]

/**
 * Mends what was found, what is damaged put aside first. Whoever calls has made sure that nobody has the store. Returns
 * what the store had to say meanwhile.
 */
export async function mend(place: DiskLocation, looked: Looked, nowMs: number): Promise<readonly string[]> {
  const told: string[] = []
  const upkeep = adminOf(place)
  const quarantine = createQuarantine(upkeep.quarantineDir)
  const findings = looked.findings.filter(({ canMend }) => canMend)
  for (const { code, place: path } of findings) {
    if (code === 'permissions') await tighten(path)
    if (code === 'unfinished_file') await quarantine.move(path)
  }
  await upkeep.repair({ findings, repairs: looked.mends }, quarantine)
  const { store } = orThrow(await openDiskStore(place, (problem) => told.push(wordsOf(problem))))
  try {
    for (const one of looked.mends) await repairSession(one, store, nowMs)
    for (const node of looked.deadNodes) await repairNode(node, store)
  } finally {
    await store.close()
  }
  await upkeep.rebuildIndexes(findings)
  return told
}

const wordsOf = ({ where, cause }: Problem): string =>
  `${where}: ${cause instanceof Error ? cause.message : String(cause)}`

async function tighten(path: string): Promise<void> {
  const { mode } = await lstat(path)
  await chmod(path, mode & 0o700)
}
