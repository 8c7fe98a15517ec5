import { expect, it } from 'vitest'
import { sessionLines } from '../export/jsonl.ts'
import { importHoldfast } from './import-holdfast.ts'
import { openSourceFile } from './parse/source-file.ts'
import { createLongConversation } from './testing/long-conversation.ts'
import { openTestImporter, sessionOf } from './testing/test-importer.ts'

/** Imports an exported session of so many turns. Returns its bytes, and the most that were read before they were written. */
async function importTurns(turns: number): Promise<{ readonly bytes: number; readonly heldMax: number }> {
  using there = await openTestImporter()
  const conversation = createLongConversation(turns).replace(/"r(\d+)"/g, (_, turn) => `"r${turn} ${'x'.repeat(3000)}"`)
  const [imported] = await there.import(there.place({ 'long.jsonl': conversation }))
  if (imported === undefined) throw new Error('nothing was imported')
  let text = ''
  for await (const line of sessionLines(there.store, sessionOf(imported), there.blobs, null)) text += line

  using here = await openTestImporter()
  const file = openSourceFile(here.place({ 'session.jsonl': text }))
  let [read, written, heldMax] = [0, 0, 0]
  const countWritten = (records: readonly { readonly body: string }[]) => {
    heldMax = Math.max(heldMax, read - written)
    written += records.reduce((sum, { body }) => sum + body.length, 0)
  }
  const outcome = await importHoldfast(
    {
      ...here.deps,
      create(session, isWhole) {
        countWritten(session.records)
        return here.deps.create(session, isWhole)
      },
      append(append) {
        countWritten(append.records)
        return here.deps.append(append)
      },
    },
    {
      ...file,
      read(position, length) {
        const bytes = file.read(position, length)
        read = position + bytes.length
        return bytes
      },
    },
    () => undefined,
    { keepSettings: false },
  )
  file[Symbol.dispose]()
  expect(outcome).toMatchObject({ ok: true, value: { status: 'imported', messages: 2 * turns } })
  return { bytes: text.length, heldMax }
}

const batchBytes = 1024 * 1024

it('holds a few batches of a long session in memory, however long it is', async () => {
  const [short, long] = [await importTurns(1500), await importTurns(3000)]
  expect(short.bytes).toBeGreaterThan(4 * batchBytes)
  expect(long.bytes).toBeGreaterThan(1.9 * short.bytes)
  // What is read and not written yet: a chunk of the file, two batches, and the checksums and times of all lines before.
  const overhead = 0.25
  for (const { bytes, heldMax } of [short, long]) expect(heldMax - overhead * bytes).toBeLessThan(3 * batchBytes)
})
