import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { scenarios } from './load/scenarios.ts'

/** Scenarios whose short form finds what must never happen, whatever the speed of the machine. */
const checked = ['viewers', 'stalled-reader', 'half-open', 'reconnect-storm', 'attach-and-detach']

it.each(checked)('loses nothing and keeps nothing under load: %s', { timeout: 240_000 }, async (name) => {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-load-'))
  try {
    const result = await scenarios[name]?.({ dir, isQuick: true, soakMinutes: 0 })
    expect(result?.violations).toEqual([])
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
})
