import { expect, it } from 'vitest'
import { CallId } from '../value/id.ts'
import { listTouched, type StoredFileChange } from './file-changes.ts'

const changed = (call: number, path: string, change: StoredFileChange['change'], from?: string): StoredFileChange => ({
  ...{ seq: call + 1, at: `2026-01-01T00:00:0${call}.000Z`, call: CallId.parse(call), path, change },
  ...(from !== undefined && { from }),
})

it('lists each touched file once, with its newest change first', () => {
  const changes = [changed(5, 'c', 'moved', 'a'), changed(3, 'b', 'modified'), changed(2, 'a', 'created')]
  expect(listTouched(changes).map(({ path, action, callId }) => [path, action, callId])).toEqual([
    ['c', 'renamed', 5],
    ['a', 'deleted', 5],
    ['b', 'modified', 3],
  ])
})
