import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Event, eventVersion, orThrow } from '@holdfast/protocol'
import { openDiskStore } from '../../../store/open/open-storage.ts'
import type { DiskLocation } from '../../../store/open/store-location.ts'
import { check } from '../check-store.ts'
import { jsonlDamages } from './jsonl-damages.ts'
import type { Planted, Row } from './planted-store.ts'
import { sqliteDamages } from './sqlite-damages.ts'

/** Damages that only a store of one kind can have. */
export const damages: Readonly<Record<DiskLocation['kind'], readonly Row[]>> = {
  sqlite: sqliteDamages,
  jsonl: jsonlDamages,
}

const blobFile = ({ location }: Planted) => {
  const file = readdirSync(location.blobsDir, { recursive: true, withFileTypes: true }).find((one) => one.isFile())
  if (!file) throw new Error('the store has blobs')
  return join(file.parentPath, file.name)
}
function strayBlob({ location }: Planted): void {
  const path = join(location.blobsDir, 'aa', 'a'.repeat(62))
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, 'unused bytes', { mode: 0o600 })
}

/** A record that no runtime would write: a call that is settled outside a round. */
async function contradict({ location, sessions: { talk } }: Planted): Promise<void> {
  const { store } = orThrow(await openDiskStore(location, () => undefined))
  const row = await store.entry(talk)
  if (row === null) throw new Error('the store has this session')
  const { epoch, head } = orThrow(await store.claim(talk, 'node_test', row.owner))
  const outcome = { type: 'denied', code: 'rejected', message: 'no' }
  const event = Event.parse({ type: 'call.settled', call: 1, outcome, durationMs: 1 })
  const record = { seq: head + 1, at: new Date(0).toISOString(), v: eventVersion['call.settled'], event }
  const change = { entry: row.entry, clearDraft: false, blobs: [], trust: [] }
  const records = [{ record, body: JSON.stringify(event) }]
  orThrow(await store.append({ session: talk, after: head, epoch, records, ...change }))
  await store.release(talk, 'node_test', epoch)
  await store.close()
}

async function giveUp(one: Planted): Promise<void> {
  const [flipped] = damages[one.location.kind]
  await flipped?.[2](one)
  orThrow(await check(one.location, { repair: true }))
}

/** Damages that a store of either kind can have. */
export const commonDamages: readonly Row[] = [
  ['records that contradict each other', 'unfoldable', contradict, 'permanent'],
  ['records that were given up', 'given_up_records', giveUp, 'harmless'],
  ['a file that nothing refers to', 'unused_blobs', (one) => strayBlob(one), 'harmless'],
  ['a missing file', 'missing_blob', (one) => rmSync(blobFile(one)), 'permanent'],
  ['a flipped file', 'damaged_blob', (one) => writeFileSync(blobFile(one), 'something else'), 'permanent'],
  ['a file others may read (D25)', 'permissions', (one) => chmodSync(blobFile(one), 0o666)],
  [
    'a file that was never finished',
    'unfinished_file',
    (one) => writeFileSync(join(one.location.blobsDir, 'new-1'), 'half'),
  ],
]
