import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HoldfastError } from '@holdfast/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Holdfast } from './holdfast.ts'
import { openHoldfast } from './open.ts'
import { fillStore, locationIn } from './store/open/testing/a-store.ts'

let base = ''
let holdfast: Holdfast
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'hf-admin-'))
  const location = locationIn(base, 'sqlite')
  await fillStore(location, join(base, 'aside'))
  holdfast = await openHoldfast({ store: location.url, environment: { HOLDFAST_HOME: join(base, 'home') } })
})
afterAll(async () => {
  await holdfast.close()
  rmSync(base, { recursive: true, force: true })
})

describe('a runtime', () => {
  it('backs up and checks its store while it runs', async () => {
    const made = await holdfast.backup(join(base, 'copy.db'))
    expect(made).toMatchObject({ url: `sqlite:${join(base, 'copy.db')}`, sessions: 4, lost: 0 })
    expect(await holdfast.doctor()).toMatchObject({ isIntact: true })
    await expect(holdfast.backup(join(base, 'copy.db'))).rejects.toMatchObject({ code: 'bad_request' })
  })

  it('counts once for concurrent requests, each with its own days', async () => {
    const [one, many] = await Promise.all([holdfast.stats({ days: 1 }), holdfast.stats({ days: 3660 })])
    expect(many.models).toBe(one.models)
    expect((await holdfast.stats()).models).not.toBe(one.models)
  })

  it('stops counting and checking when it is closed', async () => {
    const location = locationIn(base, 'jsonl')
    const other = await openHoldfast({ store: location.url, environment: { HOLDFAST_HOME: join(base, 'closing') } })
    const asked = [other.stats(), other.doctor()].map((work) => work.catch((error: HoldfastError) => error.code))
    await other.close()
    expect(await Promise.all(asked)).toEqual(['session_stopped', 'session_stopped'])
  })

  it('has no store to back up or check if it is in memory', async () => {
    const other = await openHoldfast({ store: 'memory:', environment: { HOLDFAST_HOME: join(base, 'none') } })
    await expect(other.stats()).rejects.toMatchObject({ code: 'bad_request' })
    await other.close()
  })
})
