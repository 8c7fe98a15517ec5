import { Key } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { openTestImporter, sessionOf, type TestImporter } from '../testing/test-importer.ts'

const key = 'telegram:4711'
const said = (content: string) => `${JSON.stringify({ role: 'user', content })}\n`
const answered = (content: string) => `${JSON.stringify({ role: 'assistant', content })}\n`
const meta = JSON.stringify({ key, created_at: '2026-03-10T08:00:00Z', updated_at: '2026-03-10T09:00:00Z' })

async function importText(importer: TestImporter, text: string) {
  const [file] = await importer.import(importer.place({ 'a.jsonl': text, 'a.meta.json': meta }))
  if (!file) throw new Error('one file, one answer')
  const row = await importer.store.entry(sessionOf(file))
  return { file, meta: row?.entry.meta, codes: file.remarks.map(({ code }) => code) }
}

describe('a session of picoclaw', () => {
  it('keeps its key, and grows under it when it is imported again', async () => {
    using importer = await openTestImporter()
    const first = await importText(importer, said('Hello.') + answered('Hi.'))
    expect(first.meta?.key).toBe(key)
    const again = await importText(importer, said('Hello.') + answered('Hi.') + said('More?') + answered('Yes.'))
    expect([again.file.status, again.file.session]).toEqual(['grown', first.file.session])
    expect(await importer.store.find({ type: 'key', key: Key.parse(key) })).toEqual([first.file.session])
  })

  it('leaves a key that another session has, says so, and is still imported once', async () => {
    using importer = await openTestImporter()
    const other = await importText(importer, said('Something else.') + answered('Yes.'))
    const text = said('Hello.') + answered('Hi.')
    const mine = await importText(importer, text)
    expect(mine.meta?.key).toBe(`import:picoclaw:${key}`)
    expect(mine.codes).toContain('key_dropped')
    expect(await importer.store.find({ type: 'key', key: Key.parse(key) })).toEqual([other.file.session])
    expect((await importText(importer, text)).file).toMatchObject({ status: 'same', session: mine.file.session })
  })

  it('has an unknown cost', async () => {
    using importer = await openTestImporter()
    expect((await importText(importer, said('Hello.') + answered('Hi.'))).meta?.usage.cost).toBeNull()
  })
})
