import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { namedPaths, readGitFile } from './git-config.ts'

it.each([
  ['[core]\n\thooksPath = .husky\n', [{ isHooks: true, path: '.husky' }]],
  ['[core] hookspath=hooks', [{ isHooks: true, path: 'hooks' }]],
  ['[core]\nfsmonitor = sh "a/b"\n', ['sh', 'a/b'].map((path) => ({ isHooks: false, path, isProgram: true }))],
  ['[core]\nfsmonitor = true\n', []],
  ['[include "a]b"]\n path = "../my file" ; why\n', [{ isHooks: false, path: '../my file' }]],
  ['path = a b \t\r\nPATH = "b # c" \nother = d\nxpath = e\npath\npath =\n', ['a b', 'b # c']],
  ['path = a\\\\b\\"c\npath = "open\npath = last', ['a\\b"c', 'open', 'last']],
  ['path = a\npath = a\n# path = b\n; path = c', ['a']],
])('finds the paths that a configuration names: %j', (config, expected) =>
  expect(namedPaths(config)).toEqual(
    expected.map((one) => (typeof one === 'string' ? { isHooks: false, path: one } : one)),
  ),
)

it.each([
  ['blanks in a value', (length: number) => `path = a${' '.repeat(length)}b`],
  ['blanks and quotes', (length: number) => `path = ${'" '.repeat(length / 2)}b`],
  ['blanks before a name', (length: number) => `${' \n'.repeat(length / 2)}path`],
  ['many names', (length: number) => 'path=\n'.repeat(length / 6)],
  ['a section that does not end', (length: number) => '['.repeat(length)],
])('reads twice as much in a configuration twice as long, of %s', (_, configOf) => {
  const readsAt = (length: number) => {
    const config = configOf(length)
    let reads = 0
    namedPaths({
      length: config.length,
      charCodeAt(at) {
        reads++
        return config.charCodeAt(at)
      },
    })
    return reads
  }
  const [small, large] = [readsAt(2000), readsAt(4000)]
  expect(large / small).toBeLessThan(2.2)
  expect(small).toBeLessThan(8 * 2000)
})

it('reads a bounded part of a file, and nothing of a folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-git-config-'))
  try {
    for (const bytes of [300_000, 600_000]) {
      await writeFile(join(folder, 'config'), 'x'.repeat(bytes))
      expect(await readGitFile(join(folder, 'config'))).toHaveLength(256 * 1024)
    }
    expect(await readGitFile(folder)).toBe('')
    expect(await readGitFile(join(folder, 'none'))).toBe('')
  } finally {
    await rm(folder, { recursive: true })
  }
})
