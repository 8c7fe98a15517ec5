import { expect, it } from 'vitest'
import { pairImportFiles } from './transfer.ts'

const named = (...names: readonly string[]) => names.map((name) => ({ name }))

it('pairs a session file with the one that describes it, wherever it stands', () => {
  const [meta, session, other] = named('a.meta.json', 'a.jsonl', 'b.json')
  if (!meta || !session || !other) throw new Error('three files are given')
  expect(pairImportFiles([meta, session, other])).toEqual([{ file: session, companion: meta }, { file: other }])
})

it('keeps a file without a name, and pairs none with it', () => {
  const files = named('', 'b.json', 'c.jsonl')
  expect(pairImportFiles(files)).toEqual(files.map((file) => ({ file })))
})
