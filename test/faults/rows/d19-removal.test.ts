import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fill } from '../fill.ts'
import { verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'
import { digestsOf, readStoredFiles } from '../stored-files.ts'
import { openStore } from '../subject/store.ts'
import type { SubjectLocation } from '../subject/subject.ts'
import { sessionOf, writerNode } from '../workload.ts'

const scratch = useScratch({ inMemory: true })

it('D19 JSONL: removes one session by its whole id; empty, corrupt and similarly named files stay', async () => {
  const location = scratch.location('jsonl')
  const heads = [await fill(location, 1, 3), await fill(location, 10, 3), await fill(location, 2, 3)].map(
    (one) => one.at(-1) ?? 0,
  )
  const beside = (name: string) => join(location.directory, name)
  const corrupt = readFileSync(beside(`${sessionOf(2)}.jsonl`))
  corrupt.fill(0xff, 700, 760)
  writeFileSync(beside(`${sessionOf(2)}.jsonl`), corrupt)
  writeFileSync(beside(`${sessionOf(3)}.jsonl`), '')
  for (const name of ['.jsonl.torn-7', '.jsonl.old', '0.jsonl'])
    writeFileSync(beside(`${sessionOf(10)}${name}`), 'kept')
  const before = digestsOf(await readStoredFiles(location)).filter(([name]) => name !== `${sessionOf(1)}.jsonl`)

  const opened = await openStore('jsonl', location.directory)
  if (!opened.ok) throw new Error(opened.fault.message)
  const store = opened.value
  const lease = await store.claim(sessionOf(1), writerNode, writerNode)
  if (!lease.ok) throw new Error(lease.fault.message)
  expect(await store.trash(sessionOf(1), 0)).toMatchObject({ ok: false, fault: { code: 'session_locked' } })
  await store.release(sessionOf(1), writerNode, lease.value.epoch)
  expect(await store.trash(sessionOf(1), 0)).toMatchObject({ ok: true })
  expect((await store.read(sessionOf(1), { after: 0, limit: 1000 })).length).toBe(heads[0])
  expect(await store.purge(sessionOf(1))).toMatchObject({ ok: true })
  await store.close()

  expect(digestsOf(await readStoredFiles(location))).toEqual(before)
  const witness = { log: 10, submitted: heads[1] ?? 0, acknowledged: heads[1] ?? 0 }
  expect((await verify({ location, witnesses: [witness] })).violations).toEqual([])
})

it('D19 SQLite: a trashed session is complete until its purge, which removes nothing else', async () => {
  const location = scratch.location('sqlite')
  const unhelped: SubjectLocation = { ...location, kind: 'inline' }
  const heads = [await fill(unhelped, 1, 3), await fill(unhelped, 10, 3)].map((one) => one.at(-1) ?? 0)
  const opened = await openStore('sqlite', location.directory)
  if (!opened.ok) throw new Error(opened.fault.message)
  const store = opened.value
  const lease = await store.claim(sessionOf(1), writerNode, writerNode)
  if (!lease.ok) throw new Error(lease.fault.message)
  await store.release(sessionOf(1), writerNode, lease.value.epoch)
  expect(await store.trash(sessionOf(1), 0)).toMatchObject({ ok: true })
  expect((await store.read(sessionOf(1), { after: 0, limit: 1000 })).length).toBe(heads[0])
  expect(await store.purge(sessionOf(1))).toMatchObject({ ok: true })
  await store.close()
  const witness = { log: 10, submitted: heads[1] ?? 0, acknowledged: heads[1] ?? 0 }
  expect((await verify({ location, witnesses: [witness] })).violations).toEqual([])
})
