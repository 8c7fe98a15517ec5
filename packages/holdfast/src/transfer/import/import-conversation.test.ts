import { readFileSync } from 'node:fs'
import { invariant } from '@holdfast/protocol'
import { type HistoryProvider, validateHistory } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { outline } from './testing/outline.ts'
import { openTestImporter, sessionOf } from './testing/test-importer.ts'

const golden = (name: string): URL => new URL(`../../../../../test/golden/import/${name}`, import.meta.url)

/** Files that the programs themselves wrote, with invented conversations, and their names. */
const sources: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'ggcode-1.3.33-tools': { 'a.jsonl': 'ggcode-1.3.33-tools' },
  'ggcode-1.3.33-checkpoint': { 'a.jsonl': 'ggcode-1.3.33-checkpoint' },
  'ggcode-1.3.33-fused': { 'a.jsonl': 'ggcode-1.3.33-fused' },
  'ggcode-1.3.33-corrupt': { 'a.jsonl': 'ggcode-1.3.33-corrupt' },
  'ggcode-checkpoint': { 'a.jsonl': 'ggcode-checkpoint' },
  'ggcode-two-checkpoints': { 'a.jsonl': 'ggcode-two-checkpoints' },
  'ggcode-migrated': { 'a.jsonl': 'ggcode-migrated' },
  'ggcode-without-marker': { 'a.jsonl': 'ggcode-without-marker' },
  'ggcode-duplicates': { 'a.jsonl': 'ggcode-duplicates' },
  'picoclaw-truncated': { 'a.jsonl': 'picoclaw-truncated', 'a.meta.json': 'picoclaw-truncated.meta' },
  'picoclaw-orphan': { 'a.jsonl': 'picoclaw-orphan', 'a.meta.json': 'picoclaw-orphan.meta' },
  'picoclaw-legacy': { 'a.json': 'picoclaw-legacy' },
  'picoclaw-legacy-torn': { 'a.json': 'picoclaw-legacy-torn' },
  'minga-branches': { 'a.json': 'minga-branches' },
  'minga-tools': { 'a.json': 'minga-tools' },
  'minga-running': { 'a.json': 'minga-running' },
  'minga-unknown': { 'a.json': 'minga-unknown' },
  'minga-torn': { 'a.json': 'minga-torn' },
  'minga-path-id': { 'a.json': 'minga-path-id' },
}

const services: readonly HistoryProvider[] = ['anthropic', 'openai-responses', 'openai-chat', 'gemini']

const read = (name: string): Buffer => readFileSync(golden(`${name}.source`))

describe.each(Object.entries(sources))('%s', (name, files) => {
  const placed = Object.fromEntries(Object.entries(files).map(([as, source]) => [as, read(source)]))

  it('matches its stored outline', async () => {
    using importer = await openTestImporter()
    const path = importer.place(placed)
    const [file] = await importer.import(path)
    invariant(file, 'one file, one answer')
    const session = sessionOf(file)
    const row = await importer.store.entry(session)
    invariant(row, 'it is in the store')
    const { branches } = await importer.state(session)
    const text = outline(
      file,
      row.entry.meta,
      await importer.messages(session),
      await importer.request(session),
      branches,
    )
    await expect(text.replaceAll(importer.directory, '')).toMatchFileSnapshot(golden(`${name}.outline.txt`).pathname)
    expect(row.entry.spoken).toBe(true)
    expect(row.entry.busy).toBe(false)
    expect(row.owner).toBeNull()
    expect(readFileSync(path)).toEqual(Object.values(placed)[0])
  })

  it('is the same session when imported again', async () => {
    using importer = await openTestImporter()
    const path = importer.place(placed)
    const [first] = await importer.import(path)
    const [again] = await importer.import(path)
    expect([again?.status, again?.session]).toEqual(['same', first?.session])
    expect((await importer.store.list({ limit: 10 })).sessions.length).toBe(1)
  })

  it.each(services)('can continue with %s', async (service) => {
    using importer = await openTestImporter()
    const [file] = await importer.import(importer.place(placed))
    invariant(file, 'one file, one answer')
    expect(validateHistory(service, await importer.request(sessionOf(file)))).toEqual([])
  })
})
