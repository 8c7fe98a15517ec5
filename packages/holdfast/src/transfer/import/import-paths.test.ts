import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importPaths } from './import-paths.ts'
import { createLongConversation } from './testing/long-conversation.ts'
import { openTestImporter } from './testing/test-importer.ts'

describe('import of a folder', () => {
  it('imports many small files and reports progress', async () => {
    using importer = await openTestImporter()
    const files = 1500
    importer.place(
      Object.fromEntries(
        Array.from({ length: files }, (_, each) => [`${each}.jsonl`, createLongConversation(1, `s${each}`)]),
      ),
    )
    const reported: (number | string)[] = []
    const done = await importPaths(importer.deps, [importer.directory], {
      onFound: (found) => reported.push(found.length),
      onFile: ({ status }) => reported.push(status),
    })
    expect(done.every(({ status }) => status === 'imported')).toBe(true)
    expect(new Set(done.map(({ session }) => session)).size).toBe(files)
    expect([reported[0], reported.length]).toEqual([files, files + 1])
  })

  it('names what it skips, also links, and continues', async () => {
    using importer = await openTestImporter()
    const { directory } = importer
    mkdirSync(join(directory, 'in'))
    mkdirSync(join(directory, 'out'))
    writeFileSync(join(directory, 'out', 'a.jsonl'), createLongConversation(1))
    writeFileSync(join(directory, 'in', 'b.jsonl'), createLongConversation(1, 'other'))
    writeFileSync(join(directory, 'in', 'theme.json'), '{"theme":"dark"}')
    symlinkSync(join(directory, 'out', 'a.jsonl'), join(directory, 'in', 'link.jsonl'))
    symlinkSync(join(directory, 'out'), join(directory, 'in', 'more'))
    symlinkSync(join(directory, 'nowhere'), join(directory, 'in', 'notes.txt'))
    const done = await importer.import(join(directory, 'in'))
    expect(done.map(({ file, status }) => [file.slice(directory.length), status]).toSorted()).toEqual([
      ['/in/b.jsonl', 'imported'],
      ['/in/link.jsonl', 'skipped'],
      ['/in/more', 'skipped'],
      ['/in/theme.json', 'skipped'],
    ])
    const [link] = done.filter(({ file }) => file.endsWith('link.jsonl'))
    expect(link?.fault?.message).toMatch(/link\.jsonl is a link\. Name it to import its target\.$/)
    expect((await importer.import(join(directory, 'in', 'link.jsonl')))[0]?.status).toBe('imported')
    expect((await importer.import(join(directory, 'in', 'nothing')))[0]?.status).toBe('failed')
  })
})
