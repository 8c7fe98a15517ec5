import { chmodSync } from 'node:fs'
import { expect, it } from 'vitest'
import { breakDisk, type DiskCall } from '../failing-disk.ts'
import { fill } from '../fill.ts'
import { mustOpen, openSubject } from '../open-subject.ts'
import { verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'
import { databaseIn } from '../subject/subject.ts'

const scratch = useScratch({ inMemory: true })
const changing: readonly DiskCall[] = ['write', 'writeFile', 'appendFile', 'rename', 'link', 'mkdir', 'truncate', 'rm']

for (const errno of ['EROFS', 'EACCES'] as const)
  it.each(['jsonl', 'blobs'] as const)(
    `D12 %s: ${errno} is refused with the path, and nothing is held only in memory`,
    async (kind) => {
      const location = scratch.location(kind)
      const head = (await fill(location, 1, 3)).at(-1) ?? 0
      const subject = await mustOpen(location)
      const disk = await breakDisk({ calls: changing, nth: 1, errno, lasts: true, below: location.directory })
      const sinceMs = performance.now()
      const answer = await subject.submit(1, head)
      const afterMs = performance.now() - sinceMs
      disk.heal()
      if (answer.ok) throw new Error('an append was acknowledged without a write')
      expect(answer.fault).toMatchObject({ code: 'storage_error', details: { reason: 'read_only', errno } })
      expect(await subject.head(1)).toBe(head)
      await subject.close()
      const witnesses = [{ log: 1, submitted: head, acknowledged: head }]
      const verdict = await verify({ location, witnesses, reports: [{ fault: answer.fault, afterMs }] })
      expect(verdict.violations).toEqual([])
    },
  )

it('D12 SQLite: a read-only file is refused with its path, and written once it is writable', async () => {
  const location = scratch.location('inline')
  const head = (await fill(location, 1, 3)).at(-1) ?? 0
  chmodSync(databaseIn(location.directory), 0o400)
  const sinceMs = performance.now()
  const opened = await openSubject(location)
  const afterMs = performance.now() - sinceMs
  if (opened.ok) throw new Error('a read-only file was opened to write')
  expect(opened.fault).toMatchObject({ code: 'storage_error', details: { reason: 'read_only' } })
  chmodSync(databaseIn(location.directory), 0o600)
  const witnesses = [{ log: 1, submitted: head, acknowledged: head }]
  const verdict = await verify({ location, witnesses, reports: [{ fault: opened.fault, afterMs }] })
  expect(verdict.violations).toEqual([])
})
