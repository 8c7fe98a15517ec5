import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDice } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import { failover } from '../runs/g01-failover.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

it(`loses nothing acknowledged when a synchronous standby takes over (SEED=${seed})`, async () => {
  const home = await mkdtemp(join(tmpdir(), 'hf-failover-'))
  try {
    const { did, violations } = await failover.run({ isQuick: true, dice: createDice(seed), home })
    expect(violations).toEqual([])
    expect(did).toMatch(/^1 failovers, [1-9]/)
  } finally {
    await rm(home, { recursive: true, force: true })
  }
})
