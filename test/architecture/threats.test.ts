import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const rows = readFileSync('docs/threats.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| [TN]\d+ \|/.test(line))
  .map((line) => line.split(' | '))

/** Threats 16, 17, 19 and 20 are about hooks, servers and trust: docs/hooks.md, docs/mcp.md and docs/trust.md say what holds. */
const others = [16, 17, 19, 20]
const named = Array.from({ length: 38 }, (_, index) => index + 1).filter((row) => !others.includes(row))

it('docs/threats.md has a row for each threat of the network and of the tools', () => {
  expect(rows.map(([first = '']) => first.slice(2))).toEqual([...named.map((row) => `T${row}`), 'N1'])
})

it.each(rows)('%s names tests that exist', (...cells) => {
  const files = [...(cells.at(-1) ?? '').matchAll(/`([^`]+)`/g)].map(([, path = '']) =>
    /^(test|packages)\//.test(path) ? path : `packages/holdfast/src/${path}`,
  )
  expect(files.length).toBeGreaterThan(0)
  expect(files.filter((path) => !existsSync(path))).toEqual([])
})
