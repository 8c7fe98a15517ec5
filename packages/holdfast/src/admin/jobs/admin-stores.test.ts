import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DiskLocation, parseDiskUrl } from '../../store/open/store-location.ts'
import { fillStore } from '../../store/open/testing/a-store.ts'
import { findHome } from '../../system/home.ts'
import { backupStore, checkStore, migrateStore } from './admin-stores.ts'

let base = ''
let location: DiskLocation
const environment = () => ({ HOLDFAST_HOME: join(base, 'home') })
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'hf-stores-'))
  location = orThrow(parseDiskUrl(undefined, findHome(environment())))
  await fillStore(location, base)
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

describe('store of a given home', () => {
  it('is checked with the blobs of that home', async () => {
    const report = await checkStore(location.url, { environment: environment() })
    expect(report).toMatchObject({ store: location.url, isIntact: true })
    expect(report.blobs).toBeGreaterThan(0)
    const elsewhere = { HOLDFAST_HOME: join(base, 'another') }
    expect(await checkStore(location.url, { environment: elsewhere })).toMatchObject({ isIntact: false })
  })

  it('is backed up and migrated with its blobs', async () => {
    const made = await backupStore(location.url, join(base, 'copy.db'), { environment: environment() })
    expect(made.blobs).toBeGreaterThan(0)
    const to = `jsonl:${join(base, 'plain')}`
    const migrated = await migrateStore({ from: location.url, to, environment: environment() })
    expect(migrated).toMatchObject({ refused: [], missingBlobs: [] })
    expect(migrated.blobs).toBeGreaterThan(0)
  })

  it('throws a refusal', async () => {
    await expect(checkStore('memory:')).rejects.toMatchObject({ code: 'bad_request' })
    await expect(backupStore(`jsonl:${join(base, 'none')}`, join(base, 'x'))).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})
