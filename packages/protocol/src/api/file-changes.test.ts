import { expect, it } from 'vitest'
import type { FileState } from '../event/file-change.ts'
import { BlobHash, CallId } from '../value/id.ts'
import { listTouched, type StoredFileChange, type StoredRestore } from './file-changes.ts'

const changed = (call: number, path: string, change: StoredFileChange['change'], from?: string): StoredFileChange => ({
  ...{ seq: call + 1, at: `2026-01-01T00:00:0${call}.000Z`, call: CallId.parse(call), path, change },
  ...(from !== undefined && { from }),
})

it('lists each touched file once, with its newest change first', () => {
  const changes = [changed(5, 'c', 'moved', 'a'), changed(3, 'b', 'modified'), changed(2, 'a', 'created')]
  expect(listTouched([{ changes }]).map(({ path, action, callId }) => [path, action, callId])).toEqual([
    ['c', 'renamed', 5],
    ['a', 'deleted', 5],
    ['b', 'modified', 3],
  ])
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
