import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backup } from '../../admin/backup/backup-store.ts'
import { migrate } from '../../admin/migrate/migrate-store.ts'
import { findInsideFault } from './admin-of.ts'
import { type DiskLocation, parseDiskUrl } from './store-location.ts'
import { contentOf, fillStore, hashesOf } from './testing/a-store.ts'

let base = ''
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'hf-inside-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const placeAt = (url: string): DiskLocation =>
  orThrow(parseDiskUrl(url, { storePath: join(base, 'home.db'), blobsDir: join(base, 'home-blobs') }))
const jsonl = (path: string) => placeAt(`jsonl:${path}`)
const sqlite = (path: string) => placeAt(`sqlite:${path}`)
const inside = { ok: false, fault: { code: 'bad_request', message: expect.stringContaining('is inside the store') } }

describe('a copy of a store', () => {
  it('is not made inside the store, whatever the path looks like', async () => {
    const store = jsonl(join(base, 'logs'))
    await fillStore(store, join(base, 'aside'))
    symlinkSync(store.path, join(base, 'link'))
    const before = hashesOf(store.path)
    const onProblem = () => undefined
    for (const path of [join(store.path, 'inner'), join(base, 'link', 'inner')]) {
      expect(await backup(store, path)).toMatchObject(inside)
      expect(await migrate({ from: store, to: jsonl(path), onProblem })).toMatchObject(inside)
      expect(await migrate({ from: store, to: sqlite(`${path}.db`), onProblem })).toMatchObject(inside)
    }
    expect(await migrate({ from: store, to: jsonl(join(base, 'link')), onProblem })).toMatchObject(inside)
    expect(hashesOf(store.path)).toEqual(before)
    orThrow(await backup(store, join(base, 'logs-copy')))
    expect(await contentOf(jsonl(join(base, 'logs-copy')))).toEqual(await contentOf(store))
  })

  it('may be beside a database, but not among its files', async () => {
    const store = sqlite(join(base, 'store.db'))
    mkdirSync(store.blobsDir)
    expect(await findInsideFault(store, join(base, 'copy.db'))).toBeNull()
    expect(await findInsideFault(store, join(base, 'not', 'yet', 'copy.db'))).toBeNull()
    expect(await findInsideFault(store, join(store.blobsDir, 'copy.db'))).toMatchObject({ code: 'bad_request' })
  })
})
