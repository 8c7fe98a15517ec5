import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const rows = readFileSync('docs/threats.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| [TN]\d+ \|/.test(line))
  .map((line) => line.split(' | '))

const named = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 24, 25, 26, 27, 28, 29, 30, 31, 32, 34, 35, 36, 37, 38]

it('docs/threats.md has a row for each threat of the network side', () => {
  expect(rows.map(([first = '']) => first.slice(2))).toEqual([...named.map((row) => `T${row}`), 'N1'])
})

it.each(rows)('%s names tests that exist', (...cells) => {
  const files = [...(cells.at(-1) ?? '').matchAll(/`([^`]+)`/g)].map(([, path = '']) =>
    /^(test|packages)\//.test(path) ? path : `packages/holdfast/src/${path}`,
  )
  expect(files.length).toBeGreaterThan(0)
  expect(files.filter((path) => !existsSync(path))).toEqual([])
})
