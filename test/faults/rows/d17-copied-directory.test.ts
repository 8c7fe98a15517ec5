import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { openHoldfast } from 'holdfast'
import { expect, it } from 'vitest'
import { fill } from '../fill.ts'
import { verify } from '../pass-criterion.ts'
import { standStill } from '../power-cut.ts'
import { useScratch } from '../scratch.ts'
import { openStore } from '../subject/store.ts'
import type { SubjectLocation } from '../subject/subject.ts'
import { startWriter } from '../writer-process.ts'

const scratch = useScratch({ inMemory: true })
const another = { pid: process.pid, host: hostname(), since: '2001-01-01T00:00:00.000Z', role: 'store' }

it.each(['jsonl', 'sqlite'] as const)(
  'D17 %s: a copy made while the store was open is an independent store',
  async (kind) => {
    const location = scratch.location(kind)
    const writer = startWriter({ location, logs: 2 })
    await writer.acknowledged(8)
    await standStill(writer.process)
    const copy: SubjectLocation = { kind, directory: scratch.directory() }
    cpSync(location.directory, copy.directory, { recursive: true })
    writer.process.kill('SIGKILL')
    await writer.ended()
    const verdict = await verify({ location: copy, witnesses: writer.witnesses() })
    expect(verdict.violations).toEqual([])
  },
)

it('D17 JSONL: ignores a holder from another boot, even if its process id is alive', async () => {
  const location = scratch.location('jsonl')
  const head = (await fill(location, 1, 3)).at(-1) ?? 0
  writeFileSync(join(location.directory, 'holder.json'), JSON.stringify(another))
  const verdict = await verify({ location, witnesses: [{ log: 1, submitted: head, acknowledged: head }] })
  expect(verdict.violations).toEqual([])
  expect(JSON.parse(readFileSync(join(location.directory, 'holder.json'), 'utf8')).since).not.toBe(another.since)
})

it.each(['jsonl', 'sqlite'] as const)(
  'D17 %s: treats a node from another boot as dead, even if its process id is alive',
  async (kind) => {
    const location = scratch.location(kind)
    await fill(location, 1, 1)
    const stored = await openStore(kind, location.directory)
    if (!stored.ok) throw new Error(stored.fault.message)
    const address = join(scratch.home, `${kind}-gone.sock`)
    await stored.value.registerNode({ id: `node-${process.pid}`, address, startedAt: another.since })
    await stored.value.close()
    const url = kind === 'jsonl' ? `jsonl:${location.directory}` : `sqlite:${join(location.directory, 'holdfast.db')}`
    const holdfast = await openHoldfast({ store: url, environment: { HOLDFAST_HOME: scratch.directory() } })
    await holdfast.close()
    const again = await openStore(kind, location.directory)
    if (!again.ok) throw new Error(again.fault.message)
    expect((await again.value.nodes()).map(({ id }) => id)).not.toContain(`node-${process.pid}`)
    await again.value.close()
  },
)
