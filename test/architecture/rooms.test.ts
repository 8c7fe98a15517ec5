import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { mapPath, renderMap } from '../../scripts/map.ts'
import { findCycles, type Room, readRooms } from '../../scripts/rooms.ts'
import { sources } from './sources.ts'

const filesPerFolderMax = 20
const rooms = readRooms()
const paths = rooms.map(({ path }) => path)

const room = (path: string, ...imports: string[]): Room => ({ path, files: [], imports: new Set(imports) })

describe('folders', () => {
  it('are read with their imports, types included', () => {
    const decide = rooms.find(({ path }) => path === 'packages/core/src/session/decide')
    expect(decide?.imports).toContain('packages/core/src/session')
    expect(decide?.imports).toContain('packages/protocol/src')
    expect(rooms.length).toBeGreaterThan(60)
  })

  it('do not import each other in a circle', () => {
    expect(findCycles(rooms)).toEqual([])
  })

  it('are found where they do import each other', () => {
    expect(findCycles([room('a', 'b'), room('b', 'c'), room('c', 'a'), room('d', 'a')])).toEqual([['a', 'b', 'c']])
  })

  it(`hold at most ${filesPerFolderMax} source files`, () => {
    const large = rooms.filter(({ files }) => files.length > filesPerFolderMax)
    expect(large.map(({ path, files }) => `${path}: ${files.length}`)).toEqual([])
  })

  it('each have one sentence in ARCHITECTURE.md, and no sentence has lost its folder', () => {
    const described = [
      ...readFileSync('ARCHITECTURE.md', 'utf8').matchAll(/^- `(packages\/[^`]+\/src[^`]*)`: \S.*\.$/gm),
    ]
    const names = described.map(([, path = '']) => path)
    expect(paths.filter((path) => !names.includes(path))).toEqual([])
    expect(names.filter((path) => !existsSync(path))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })

  it('are drawn as they are in docs/map.svg; `npm run map` draws them again', async () => {
    expect(readFileSync(mapPath, 'utf8') === (await renderMap()), 'run `npm run map`').toBe(true)
  })
})

describe('names', () => {
  it('of exported types are used once in a package', () => {
    const places = new Map<string, Set<string>>()
    for (const { path, text } of sources) {
      const [, packageName] = path.split('/')
      for (const [, name] of text.matchAll(/^export (?:type|interface|class) (\w+)/gm)) {
        const key = `${packageName}: ${name}`
        places.set(key, (places.get(key) ?? new Set()).add(path))
      }
    }
    expect([...places].filter(([, files]) => files.size > 1).map(([name, files]) => [name, ...files])).toEqual([])
  })
})
