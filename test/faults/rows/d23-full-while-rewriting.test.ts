import { expect, it } from 'vitest'
import { allCalls, breakDisk } from '../failing-disk.ts'
import { fill } from '../fill.ts'
import { verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'
import { digestsOf, readStoredFiles } from '../stored-files.ts'
import { openStore } from '../subject/store.ts'
import { digestOf, newSessionOf, recordAt, sessionOf, writerNode } from '../workload.ts'

const scratch = useScratch({ inMemory: true })
const runsMax = 100

it('D23 JSONL: a disk that fills up during a purge leaves the old file or the new one', async () => {
  let nth = 1
  for (let isMet = true; isMet && nth < runsMax; nth++) {
    const location = scratch.location('jsonl')
    await fill(location, 1, 4)
    const opened = await openStore('jsonl', location.directory)
    if (!opened.ok) throw new Error(opened.fault.message)
    const store = opened.value
    const fork = { ...newSessionOf(2), parent: sessionOf(1), base: 1, records: [recordAt(2, 2)] }
    expect(await store.create(fork)).toMatchObject({ ok: true })
    const lease = await store.claim(sessionOf(1), writerNode, writerNode)
    if (!lease.ok) throw new Error(lease.fault.message)
    await store.release(sessionOf(1), writerNode, lease.value.epoch)
    const whole = await store.read(sessionOf(1), { after: 0, limit: 100 })
    const shared = await store.read(sessionOf(2), { after: 0, limit: 100 })

    const disk = await breakDisk({ calls: allCalls, nth, errno: 'ENOSPC', lasts: true, below: location.directory })
    const purged = await store.purge(sessionOf(1))
    disk.heal()
    isMet = disk.hasFailed()
    await store.close()

    const again = await openStore('jsonl', location.directory)
    if (!again.ok) throw new Error(again.fault.message)
    const label = `full at ${nth}, purged: ${purged.ok}`
    const left = await again.value.read(sessionOf(1), { after: 0, limit: 100 })
    expect([[], whole], label).toContainEqual(left)
    if (purged.ok) expect(left).toEqual([])
    expect(await again.value.read(sessionOf(2), { after: 0, limit: 100 }), label).toEqual(shared)
    await again.value.close()
    const digests = shared.map((record) => ('lost' in record ? 'lost' : digestOf(record)))
    const verdict = await verify({ location, shown: [{ session: sessionOf(2), after: 0, digests }] })
    expect(verdict.violations, label).toEqual([])
  }
  expect(nth).toBeGreaterThan(3)
  expect(nth).toBeLessThan(runsMax)
})

it('D23 JSONL: a disk that is full during a rewrite of the catalogue loses nothing', async () => {
  const location = scratch.location('jsonl')
  const head = (await fill(location, 1, 3)).at(-1) ?? 0
  const before = digestsOf(await readStoredFiles(location))
  const disk = await breakDisk({
    calls: ['writeFile', 'appendFile', 'rename'],
    nth: 1,
    errno: 'ENOSPC',
    lasts: true,
    below: location.directory,
  })
  const opened = await openStore('jsonl', location.directory)
  if (opened.ok) await opened.value.close()
  disk.heal()
  expect(digestsOf(await readStoredFiles(location))).toEqual(before)
  const verdict = await verify({ location, witnesses: [{ log: 1, submitted: head, acknowledged: head }] })
  expect(verdict.violations).toEqual([])
})
