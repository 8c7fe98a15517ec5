import { execFileSync } from 'node:child_process'
import { constants, existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aPng } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import { fill } from '../fill.ts'
import { mustOpen, openSubject } from '../open-subject.ts'
import { verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'
import { databaseIn } from '../subject/subject.ts'
import { sessionOf, sha256 } from '../workload.ts'

const scratch = useScratch({ inMemory: true })
const aLongLog = Buffer.from('{"role":"user","content":"not ours"}\n'.repeat(80_000))

/** Foreign files in place of the store; `make` returns the path that must not change. */
const foreign: readonly (readonly [string, (path: string) => void])[] = [
  ['a 3 MB log of another program', (path) => writeFileSync(path, aLongLog)],
  ['an image', (path) => writeFileSync(path, aPng(8, 8))],
  ['an empty file', (path) => writeFileSync(path, '')],
  ['a directory', (path) => mkdirSync(path)],
  ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ['a link to another file', (path) => linkTo(path)],
]

function linkTo(path: string): void {
  writeFileSync(`${path}.target`, 'precious')
  symlinkSync(`${path}.target`, path)
}

/** Returns a short description of a file and its content. */
function bytesOf(path: string): string {
  const { mode } = lstatSync(path)
  if (lstatSync(path).isSymbolicLink()) return `link ${sha256(readFileSync(`${path}.target`))}`
  return `${mode & constants.S_IFMT} ${lstatSync(path).isFile() ? sha256(readFileSync(path)) : ''}`
}

it.each(foreign)('D15 SQLite: %s is not a store and is not changed', async (_, make) => {
  const location = scratch.location('inline')
  mkdirSync(location.directory)
  make(databaseIn(location.directory))
  const before = bytesOf(databaseIn(location.directory))
  const opened = await openSubject(location)
  expect(opened).toMatchObject({ ok: false, fault: { code: 'not_a_store', details: { path: expect.any(String) } } })
  expect(bytesOf(databaseIn(location.directory))).toEqual(before)
})

it.each(foreign)(
  'D15 JSONL: %s with the name of a session is not one, is not changed and affects no other session',
  async (_, make) => {
    const location = scratch.location('jsonl')
    const head = (await fill(location, 1, 2)).at(-1) ?? 0
    const path = join(location.directory, `${sessionOf(2)}.jsonl`)
    make(path)
    const before = bytesOf(path)
    const subject = await mustOpen(location)
    expect(await subject.head(2)).toBe(0)
    expect(await subject.read(2, 0)).toEqual([])
    await subject.close()
    expect(bytesOf(path)).toEqual(before)
    const verdict = await verify({ location, witnesses: [{ log: 1, submitted: head, acknowledged: head }] })
    expect(verdict.violations).toEqual([])
    expect(bytesOf(path)).toEqual(before)
  },
)

it.each(foreign.filter(([what]) => what !== 'a directory'))(
  'D15 JSONL: refuses %s in place of the directory',
  async (_, make) => {
    const location = scratch.location('jsonl')
    make(location.directory)
    const before = bytesOf(location.directory)
    const opened = await openSubject(location)
    expect(opened).toMatchObject({ ok: false, fault: { details: { path: expect.any(String) } } })
    expect(bytesOf(location.directory)).toEqual(before)
  },
)

it('D15 JSONL: refuses a directory of other files and creates nothing in it', async () => {
  const location = scratch.location('jsonl')
  mkdirSync(location.directory)
  writeFileSync(join(location.directory, 'notes.txt'), 'precious')
  expect(await openSubject(location)).toMatchObject({ ok: false, fault: { code: 'not_a_store' } })
  expect(existsSync(join(location.directory, 'holdfast.json'))).toBe(false)
})
