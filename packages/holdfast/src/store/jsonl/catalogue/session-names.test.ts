import type { SessionLookup } from '@holdfast/core/ports'
import { Key, type SessionId } from '@holdfast/protocol'
import { entryOf, sessionId } from '@holdfast/testkit/contracts'
import { describe, expect, it } from 'vitest'
import type { SessionRow } from '../log/session-row.ts'
import { createSessionNames, findRows } from './session-names.ts'

const key = (text: string) => Key.parse(text)
const handleOf = (number: number) => entryOf(number).meta.handle

const rowOf = (number: number, isShared = false): SessionRow => ({
  id: sessionId(number),
  order: number,
  parent: null,
  base: 0,
  head: 1,
  bytes: 1,
  epoch: 1,
  owner: null,
  entry: entryOf(number, { meta: { key: key(`key-${number}`) } }),
  trashedAt: null,
  isShared,
})

/** Rows that fail when a search walks over all of them. */
class LookupOnly extends Map<SessionId, SessionRow> {
  override values(): never {
    throw new Error('all rows were walked over')
  }
}

function findIn(...all: readonly SessionRow[]) {
  const rows = new LookupOnly(all.map((row) => [row.id, row]))
  const names = createSessionNames(rows)
  return { find: (name: SessionLookup) => findRows(rows, names, name), names }
}

describe('findRows', () => {
  it('looks up an id, a handle or a key without walking over all rows', () => {
    const { find } = findIn(rowOf(1), rowOf(2))
    expect(find({ type: 'id', id: sessionId(2) })).toEqual([sessionId(2)])
    expect(find({ type: 'handle', handle: handleOf(2) })).toEqual([sessionId(2)])
    expect(find({ type: 'key', key: key('key-1') })).toEqual([sessionId(1)])
    expect(find({ type: 'id', id: sessionId(3) })).toEqual([])
    expect(find({ type: 'key', key: key('other') })).toEqual([])
  })

  it('finds neither purged sessions nor sessions still being written', () => {
    const { find, names } = findIn(rowOf(1, true))
    names.add(rowOf(2))
    expect(find({ type: 'id', id: sessionId(1) })).toEqual([])
    expect(find({ type: 'handle', handle: handleOf(2) })).toEqual([])
  })
})
