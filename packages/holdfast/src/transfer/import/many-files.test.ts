import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importPaths } from './import-paths.ts'
import { openImportHouse } from './testing/import-house.ts'
import { longTalk } from './testing/long-talk.ts'

describe('a folder', () => {
  it('of many small files is imported whole, and says how far it is', async () => {
    using house = await openImportHouse()
    const files = 1500
    house.place(
      Object.fromEntries(Array.from({ length: files }, (_, each) => [`${each}.jsonl`, longTalk(1, `s${each}`)])),
    )
    const told: (number | string)[] = []
    const done = await importPaths(house.parts, [house.directory], {
      onCount: (count) => told.push(count),
      onFile: ({ status }) => told.push(status),
    })
    expect(done.every(({ status }) => status === 'imported')).toBe(true)
    expect(new Set(done.map(({ session }) => session)).size).toBe(files)
    expect([told[0], told.length]).toEqual([files, files + 1])
  })

  it('names what it passes over, links too, and goes on', async () => {
    using house = await openImportHouse()
    const { directory } = house
    mkdirSync(join(directory, 'in'))
    mkdirSync(join(directory, 'out'))
    writeFileSync(join(directory, 'out', 'a.jsonl'), longTalk(1))
    writeFileSync(join(directory, 'in', 'b.jsonl'), longTalk(1, 'other'))
    writeFileSync(join(directory, 'in', 'theme.json'), '{"theme":"dark"}')
    symlinkSync(join(directory, 'out', 'a.jsonl'), join(directory, 'in', 'link.jsonl'))
    symlinkSync(join(directory, 'out'), join(directory, 'in', 'more'))
    symlinkSync(join(directory, 'nowhere'), join(directory, 'in', 'notes.txt'))
    const done = await house.import(join(directory, 'in'))
    expect(done.map(({ file, status }) => [file.slice(directory.length), status]).toSorted()).toEqual([
      ['/in/b.jsonl', 'imported'],
      ['/in/link.jsonl', 'skipped'],
      ['/in/more', 'skipped'],
      ['/in/theme.json', 'skipped'],
    ])
    const [link] = done.filter(({ file }) => file.endsWith('link.jsonl'))
    expect(link?.fault?.message).toMatch(/link\.jsonl is a link; name it to import what it leads to\.$/)
    expect((await house.import(join(directory, 'in', 'link.jsonl')))[0]?.status).toBe('imported')
    expect((await house.import(join(directory, 'in', 'nothing')))[0]?.status).toBe('failed')
  })
})
