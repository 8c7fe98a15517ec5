import { describe, expect, it } from 'vitest'
import type { FileState } from '../event/file-change.ts'
import { BlobHash, CallId, Instant, Seq } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { collectTouched, listTouched, type StoredFileChange, type StoredRestore } from './file-changes.ts'

const changed = (call: number, path: string, change: StoredFileChange['change'], from?: string): StoredFileChange => ({
  seq: call + 1,
  at: `2026-01-01T00:00:0${call}.000Z`,
  call: CallId.parse(call),
  path,
  change,
  ...(from !== undefined && { from }),
})

it('lists each touched file once, with its newest change first', () => {
  const changes = [changed(5, 'c', 'moved', 'a'), changed(3, 'b', 'modified'), changed(2, 'a', 'created')]
  expect(listTouched([{ changes }]).map(({ path, action, callId }) => [path, action, callId])).toEqual([
    ['c', 'created', 5], // the session made it, under another name
    ['b', 'modified', 3],
  ])
})

describe('a moved file', () => {
  const file = (letter: string) => ({ type: 'file' as const, hash: BlobHash.parse(letter.repeat(64)), mode: 0o644 })
  const at = (call: number, path: string, change: StoredFileChange['change'], letter?: string) => ({
    ...changed(call, path, change),
    ...(letter !== undefined && { after: file(letter).hash, mode: 0o644 }),
  })
  const move = (call: number, from: string, path: string, letter = 'a') => ({
    ...at(call, path, 'moved', letter),
    from,
    before: file(letter),
  })
  const rows = (changes: readonly StoredFileChange[], restored: StoredRestore[] = []) =>
    listTouched([{ changes: changes.toReversed(), restored }]).map(({ path, from, action, callId }) =>
      from === undefined ? [action, path, callId] : [action, `${from} → ${path}`, callId],
    )

  it.each<[string, readonly StoredFileChange[], readonly (readonly unknown[])[]]>([
    ['is one row', [move(2, 'a', 'b')], [['renamed', 'a → b', 2]]],
    [
      'stays one row after an edit and another move',
      [move(2, 'a', 'b'), { ...at(3, 'b', 'modified', 'b'), before: file('a') }, move(4, 'b', 'c', 'b')],
      [['renamed', 'a → c', 4]],
    ],
    ['is not listed when it is back', [move(2, 'a', 'b'), move(3, 'b', 'a')], []],
    [
      'is deleted at its first path if it was deleted later',
      [move(2, 'a', 'b'), { ...at(3, 'b', 'deleted'), before: file('a') }],
      [['deleted', 'a', 2]],
    ],
    ['hides the file that it replaced', [{ ...move(2, 'a', 'b'), replaced: file('c') }], [['renamed', 'a → b', 2]]],
    [
      'leaves room for a new file',
      [move(2, 'a', 'b'), { ...at(3, 'a', 'created', 'd'), before: { type: 'absent' } }],
      [
        ['created', 'a', 3],
        ['renamed', 'a → b', 2],
      ],
    ],
    [
      'is told apart from the one that made room for it',
      [move(2, 'b', 'c', 'b'), move(3, 'a', 'b')],
      [
        ['renamed', 'a → b', 3],
        ['renamed', 'b → c', 2],
      ],
    ],
  ])('%s', (_, changes, expected) => {
    expect(rows(changes)).toEqual(expected)
  })

  it('is not listed once its move was put back, and again after the undo of that', () => {
    const back = (seq: number, from: string, path: string): StoredRestore[] => [
      { seq, at: `2026-01-01T00:00:0${seq}.000Z`, path, after: file('a'), movedFrom: from },
      { seq, at: `2026-01-01T00:00:0${seq}.000Z`, path: from, after: { type: 'absent' } },
    ]
    expect(rows([move(2, 'a', 'b')], back(5, 'b', 'a'))).toEqual([])
    expect(rows([move(2, 'a', 'b')], [...back(6, 'a', 'b'), ...back(5, 'b', 'a')])).toEqual([['renamed', 'a → b', 2]])
    const replaced = { ...move(2, 'a', 'b'), replaced: file('c') }
    const both = back(5, 'b', 'a').map((one) => (one.path === 'b' ? { ...one, after: file('c') } : one))
    expect(rows([replaced], both)).toEqual([])
  })
})

it('lists a file that was put back with the change whose content it has, and not if it is as before the session', () => {
  const file = (letter: string) => ({ type: 'file' as const, hash: BlobHash.parse(letter.repeat(64)), mode: 0o644 })
  const step = (call: number, path: string, before: string | null, after: string) => ({
    ...changed(call, path, before === null ? 'created' : 'modified'),
    before: before === null ? ({ type: 'absent' } as const) : file(before),
    after: file(after).hash,
    mode: 0o644,
  })
  const changes = [step(5, 'a', 'b', 'c'), step(4, 'n', null, 'd'), step(3, 'o', 'e', 'f'), step(2, 'a', 'a', 'b')]
  const restored = (seq: number, path: string, after: FileState) => ({ seq, at: '2026-01-01T00:00:09Z', path, after })
  const shown = (...restores: readonly StoredRestore[]) =>
    listTouched([{ changes, restored: [...restores] }]).map(({ path, action, callId }) => [path, action, callId])
  expect(shown(restored(9, 'n', { type: 'absent' }), restored(9, 'o', file('e')))).toEqual([['a', 'modified', 5]])
  expect(shown(restored(9, 'a', file('b')))).toContainEqual(['a', 'modified', 2])
  expect(shown(restored(10, 'n', file('d')), restored(9, 'n', { type: 'absent' }))).toContainEqual(['n', 'created', 4])
  expect(shown(restored(1, 'n', { type: 'absent' }))).toContainEqual(['n', 'created', 4])
})

it('lists a link that was put back with the change that made it', () => {
  const made = { ...changed(3, 'a', 'created'), before: { type: 'absent' } as const, link: 'b' }
  const removed = { ...changed(4, 'a', 'deleted'), before: { type: 'link', target: 'b' } as const }
  const restored = [{ seq: 9, at: '2026-01-01T00:00:09Z', path: 'a', after: { type: 'link' as const, target: 'b' } }]
  const [listed] = listTouched([{ changes: [removed, made], restored }])
  expect(listed).toMatchObject({ path: 'a', action: 'created', callId: 3 })
})

it.each([
  ['changes', 1000, 'f', limits.touchedChangesMax / 1000],
  ['long paths', 10, 'f'.repeat(4000), Math.floor(limits.touchedPathsCharsMax / 40_000)],
])('lists the newest files of a session with very many %s, and says so', (_, perPage, name, pagesMax) => {
  const readAt = (pages: number) => {
    const touched = collectTouched()
    let read = 0
    for (let before: Seq | null = Seq.parse(pages + 1); before !== null; read++) {
      const seq = Seq.parse(before - 1)
      const about = { seq, at: Instant.parse('2026-01-02T03:04:05.000Z'), call: CallId.parse(seq) }
      const paths = Array.from({ length: perPage }, (_, index) => `${index}-${seq}-${name}`.slice(0, 4000))
      const changes = paths.map((path) => ({ ...about, path, change: 'created' as const }))
      before = touched.add({ changes, before: seq === 1 ? null : seq })
    }
    return { read, ...touched.list() }
  }
  const few = readAt(pagesMax)
  expect([few.read, few.files.length, 'isCut' in few]).toEqual([pagesMax, pagesMax * perPage, false])
  for (const pages of [2 * pagesMax, 4 * pagesMax]) {
    const { read, files, ...rest } = readAt(pages)
    expect([read, files.length, rest]).toEqual([pagesMax + 1, pagesMax * perPage, { isCut: true, hasRestored: false }])
    expect(files[0]?.callId).toBe(pages)
  }
})
