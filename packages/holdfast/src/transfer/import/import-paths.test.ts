import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { ImportDeps } from './host/import-deps.ts'
import { importPaths } from './import-paths.ts'
import { createLongConversation } from './testing/long-conversation.ts'
import { openTestImporter, type TestImporter } from './testing/test-importer.ts'

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

  it('has the first small sessions written while it reads the others', async () => {
    using importer = await openTestImporter()
    const files = 100
    importer.place(
      Object.fromEntries(
        Array.from({ length: files }, (_, each) => [`${each}.jsonl`, createLongConversation(1, `s${each}`)]),
      ),
    )
    const { begunInNextSlice } = await importAndWatch(importer)
    expect(begunInNextSlice[0]).toBeLessThan(files)
  })

  it('sends a large session to the store before it reads the next one', async () => {
    using importer = await openTestImporter()
    const text = createLongConversation(1).replace('r0', 'long '.repeat(600_000))
    importer.place({ '1.jsonl': text, '2.jsonl': text.replaceAll('"long"', '"other"') })
    const { begunAtCreate } = await importAndWatch(importer)
    expect(begunAtCreate).toEqual([1, 2])
  })

  it('reads a file again whose handle is taken, and reports its remarks once', async () => {
    using importer = await openTestImporter()
    const deps: ImportDeps = { ...importer.deps, newHandle: (attempt) => `calm-harbor-${attempt + 1}` }
    const text = createLongConversation(1).replaceAll('"/work"', '"/etc"')
    importer.place({ '1.jsonl': text, '2.jsonl': text.replaceAll('"long"', '"other"') })
    const done = await importPaths(deps, [importer.directory])
    expect(done.map(({ status, remarks }) => [status, remarks.length])).toEqual([
      ['imported', 1],
      ['imported', 1],
    ])
    const rows = await Promise.all(done.map(({ session }) => session && importer.store.entry(session)))
    expect(new Set(rows.map((row) => row?.entry.meta.handle))).toEqual(new Set(['calm-harbor-1', 'calm-harbor-2']))
  })

  it('reads a file that describes a session with it, and reports only others', async () => {
    using importer = await openTestImporter()
    const said = '{"role":"user","content":"hi"}\n'
    const meta = '{"key":"telegram:9","summary":"","skip":0}'
    importer.place({ '9.jsonl': said, '9.meta.json': meta, 'a.jsonl': createLongConversation(1), 'a.meta.json': meta })
    const reported: number[] = []
    const done = await importPaths(importer.deps, [importer.directory], {
      onFound: (found) => reported.push(found.length),
    })
    const files = done.map(({ file, status }) => [basename(file), status])
    expect(files.toSorted()).toEqual([
      ['9.jsonl', 'imported'],
      ['a.jsonl', 'imported'],
      ['a.meta.json', 'skipped'],
    ])
    expect(reported).toEqual([3])
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

/**
 * Imports the folder. Returns how many files were begun when each session was created, and in the slice after
 * that: a thread sends and receives messages only then.
 */
async function importAndWatch({ deps, directory }: TestImporter) {
  const begunAtCreate: number[] = []
  const begunInNextSlice: number[] = []
  let begun = 0
  const create: ImportDeps['create'] = async (...created) => {
    begunAtCreate.push(begun)
    await setImmediate()
    begunInNextSlice.push(begun)
    return deps.create(...created)
  }
  const onBegin = (index: number): void => {
    begun = index + 1
  }
  await importPaths({ ...deps, create }, [directory], { onBegin })
  return { begunAtCreate, begunInNextSlice }
}
