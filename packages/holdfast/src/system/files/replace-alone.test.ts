import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ok, orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { replaceAlone } from './replace-alone.ts'

let base = ''
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'hf-replace-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

/** A file in a directory of its own. */
function aFile(name: string, text = ''): string {
  mkdirSync(join(base, name))
  const path = join(base, name, 'list')
  writeFileSync(path, text)
  return path
}

/** The leftovers of a process that crashed long ago. */
function leave(path: string): void {
  writeFileSync(path, 'half')
  utimesSync(path, 1, 1)
}

const addLine = (path: string, line: string) =>
  replaceAlone(path, async (write) => {
    const before = await readFile(path, 'utf8')
    const written = await write(`${before}${line}\n`)
    return written.ok ? ok(line) : written
  })

it('loses no concurrent write, even with a draft left by a crash', async () => {
  const lines = ['one', 'two', 'three', 'four']
  const round = async (path: string, apart: number) => {
    leave(`${path}.new`)
    const adding = lines.map(async (line, place) => {
      for (let looks = 0; looks < place * apart; looks++) await stat(base)
      return addLine(path, line)
    })
    for (const added of await Promise.all(adding)) orThrow(added)
    expect(readFileSync(path, 'utf8').trim().split('\n').sort()).toEqual([...lines].sort())
    expect(readdirSync(dirname(path))).toEqual(['list'])
  }
  // In every round they come a little further apart, so that each meets the others at another point.
  await Promise.all(Array.from({ length: 60 }, (_, n) => round(aFile(`round-${n}`), n % 20)))
})

it('ignores a guard left by a crash', async () => {
  const path = aFile('guarded')
  leave(`${path}.new`)
  leave(`${path}.new.left`)
  orThrow(await addLine(path, 'one'))
  expect([readFileSync(path, 'utf8'), readdirSync(dirname(path))]).toEqual(['one\n', ['list']])
})

it('refuses to write when another process has taken over the draft, and leaves it alone', async () => {
  const path = aFile('taken', 'before')
  const refused = await replaceAlone(path, async (write) => {
    renameSync(`${path}.new`, join(base, 'gone'))
    writeFileSync(`${path}.new`, 'the draft of another')
    return write('mine')
  })
  expect(refused).toMatchObject({ ok: false, fault: { code: 'storage_error' } })
  expect([readFileSync(path, 'utf8'), readFileSync(`${path}.new`, 'utf8')]).toEqual(['before', 'the draft of another'])
})

it('leaves no draft if nothing was written', async () => {
  const path = aFile('unwritten', 'before')
  orThrow(await replaceAlone(path, async () => ok(null)))
  await expect(replaceAlone(path, () => Promise.reject(new Error('out of ideas')))).rejects.toThrow('out of ideas')
  expect([readFileSync(path, 'utf8'), existsSync(`${path}.new`)]).toEqual(['before', false])
})
