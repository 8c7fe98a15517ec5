import { cpSync, existsSync, readdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fill } from '../fill.ts'
import { mustOpen } from '../open-subject.ts'
import { type Report, verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'
import { databaseIn, type SubjectLocation } from '../subject/subject.ts'
import { batchAfter, sessionOf } from '../workload.ts'

const scratch = useScratch({ inMemory: true })

type Operation = {
  readonly what: string
  readonly operation: (path: string) => void
  /** How to restore the file: the path of the bytes if they still exist, otherwise the copy made before. */
  readonly nameAfter: ((path: string) => string) | null
}

const operations: readonly Operation[] = [
  { what: 'removed', operation: (path) => rmSync(path), nameAfter: null },
  { what: 'cut short', operation: (path) => truncateSync(path, 40), nameAfter: null },
  { what: 'moved away', operation: (path) => renameSync(path, elsewhere(path)), nameAfter: elsewhere },
  {
    what: 'replaced',
    operation(path) {
      renameSync(path, elsewhere(path))
      writeFileSync(path, 'something else')
    },
    nameAfter: elsewhere,
  },
]

function elsewhere(path: string): string {
  return `${path}.elsewhere`
}

const truthOf = ({ kind, directory }: SubjectLocation): string =>
  kind === 'jsonl' ? join(directory, `${sessionOf(1)}.jsonl`) : databaseIn(directory)

for (const { what, operation, nameAfter } of operations)
  it.each(['jsonl', 'inline'] as const)(
    `D14 %s: a file ${what} during a running session is detected and never recreated`,
    async (kind) => {
      const location = scratch.location(kind)
      const filled = (await fill(location, 1, 3)).at(-1) ?? 0
      const beside = (await fill(location, 2, 3)).at(-1) ?? 0
      const subject = await mustOpen(location)
      expect(await subject.submit(1, filled)).toMatchObject({ ok: true })
      const head = filled + batchAfter(filled)
      const [path, copy] = [truthOf(location), scratch.directory()]
      cpSync(location.directory, copy, { recursive: true })
      operation(path)
      const left = existsSync(path) ? readdirSync(location.directory).toSorted() : null

      const answer = await subject.submit(1, head)
      const report: Report | null = answer.ok ? null : { fault: answer.fault, afterMs: 0 }
      expect(report?.fault, what).toMatchObject({ code: 'storage_error', details: { path: expect.any(String) } })
      expect(await subject.submit(1, head), 'nor is it taken later').toMatchObject({ ok: false })
      if (left === null) expect(existsSync(path)).toBe(false)
      await subject.close()

      if (nameAfter !== null) renameSync(nameAfter(path), path)
      else {
        rmSync(location.directory, { recursive: true })
        cpSync(copy, location.directory, { recursive: true })
      }
      const witnesses = [
        { log: 1, submitted: head + batchAfter(head), acknowledged: head },
        { log: 2, submitted: beside, acknowledged: beside },
      ]
      const verdict = await verify({ location, witnesses, reports: report === null ? [] : [report] })
      expect(verdict.checked).toEqual(expect.arrayContaining([1, 2, 3, 4, 5, 6, 10]))
      expect(verdict.violations).toEqual([])
    },
  )
