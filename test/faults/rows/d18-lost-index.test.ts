import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fill } from '../fill.ts'
import { mustOpen } from '../open-subject.ts'
import { verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'
import { openStore } from '../subject/store.ts'
import { databaseIn, type SubjectLocation } from '../subject/subject.ts'
import { batchAfter, sessionOf } from '../workload.ts'

const scratch = useScratch({ inMemory: true })
const logs = [1, 2, 3]

async function listed({ directory }: SubjectLocation): Promise<readonly string[]> {
  const store = await openStore('jsonl', directory)
  if (!store.ok) throw new Error(store.fault.message)
  const { sessions } = await store.value.list({ limit: 100 })
  await store.value.close()
  return sessions.map(({ meta }) => meta.id).toSorted()
}

const damages: readonly (readonly [string, (path: string, old: Buffer) => void])[] = [
  ['lost', (path) => rmSync(path)],
  ['empty', (path) => writeFileSync(path, '')],
  ['noise', (path) => writeFileSync(path, Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 89) % 256)))],
  ['cut in the middle', (path) => writeFileSync(path, readFileSync(path).subarray(0, -200))],
  ['older than the logs', (path, old) => writeFileSync(path, old)],
]

it.each(damages)('D18 JSONL: lists every session completely if the catalogue is %s', async (_, damage) => {
  const location = scratch.location('jsonl')
  const path = join(location.directory, 'catalogue.jsonl')
  await fill(location, 1, 2)
  const old = readFileSync(path)
  const heads = new Map<number, number>()
  for (const log of logs) heads.set(log, (await fill(location, log, 3)).at(-1) ?? 0)
  damage(path, old)
  expect(await listed(location)).toEqual(logs.map(sessionOf))
  const witnesses = logs.map((log) => ({ log, submitted: heads.get(log) ?? 0, acknowledged: heads.get(log) ?? 0 }))
  const verdict = await verify({ location, witnesses })
  expect(verdict.violations).toEqual([])
})

it.each(['holdfast.json', 'trust.json', 'nodes.json', 'holder.json', 'snapshots', 'drafts'])(
  'D18 JSONL: works without %s',
  async (name) => {
    const location = scratch.location('jsonl')
    const head = (await fill(location, 1, 3)).at(-1) ?? 0
    rmSync(join(location.directory, name), { recursive: true, force: true })
    const verdict = await verify({ location, witnesses: [{ log: 1, submitted: head, acknowledged: head }] })
    expect(verdict.violations).toEqual([])
  },
)

it.each(['lost', 'noise'])(
  'D18 SQLite: recovers if the index of the write-ahead log is %s after a crash',
  async (what) => {
    const [living, location] = [scratch.location('inline'), scratch.location('inline')]
    const subject = await mustOpen(living)
    let head = 0
    for (let number = 0; number < 3; number++) {
      expect(await subject.submit(1, head)).toMatchObject({ ok: true })
      head += batchAfter(head)
    }
    cpSync(living.directory, location.directory, { recursive: true })
    await subject.close()
    const index = `${databaseIn(location.directory)}-shm`
    expect(existsSync(index)).toBe(true)
    if (what === 'lost') rmSync(index)
    else writeFileSync(index, Buffer.alloc(32_768, 0xa5))
    const verdict = await verify({ location, witnesses: [{ log: 1, submitted: head, acknowledged: head }] })
    expect(verdict.violations).toEqual([])
  },
)
