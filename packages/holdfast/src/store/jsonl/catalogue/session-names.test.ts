import { Key, type SessionId } from '@holdfast/protocol'
import { entryOf, sessionId } from '@holdfast/testkit/contracts'
import { describe, expect, it } from 'vitest'
import type { SessionRow } from '../log/session-row.ts'
import { createFindRows, createSessionNames } from './session-names.ts'

const key = (text: string) => Key.parse(text)
const handleOf = (number: number) => entryOf(number).meta.handle

const rowOf = (number: number, isShared = false): SessionRow => ({
  ...{ id: sessionId(number), order: number, parent: null, base: 0, head: 1, bytes: 1, epoch: 1, owner: null },
  ...{ entry: entryOf(number, { meta: { key: key(`key-${number}`) } }), trashedAt: null, isShared },
})

/** Rows that nobody may look through. */
class Unwalked extends Map<SessionId, SessionRow> {
  override values(): never {
    throw new Error('one after the other was looked at')
  }
}

function findIn(...all: readonly SessionRow[]) {
  const [rows, names] = [new Unwalked(), createSessionNames()]
  for (const row of all) {
    rows.set(row.id, row)
    names.add(row)
  }
  return { find: createFindRows(rows, names), names }
}

describe('finding a session', () => {
  it('by its id, handle or key looks at no other', () => {
    const { find } = findIn(rowOf(1), rowOf(2))
    expect(find({ type: 'id', id: sessionId(2) })).toEqual([sessionId(2)])
    expect(find({ type: 'handle', handle: handleOf(2) })).toEqual([sessionId(2)])
    expect(find({ type: 'key', key: key('key-1') })).toEqual([sessionId(1)])
    expect(find({ type: 'id', id: sessionId(3) })).toEqual([])
    expect(find({ type: 'key', key: key('other') })).toEqual([])
  })

  it('never finds what only its forks still show, nor what is still being written', () => {
    const { find, names } = findIn(rowOf(1, true))
    names.add(rowOf(2))
    expect(find({ type: 'id', id: sessionId(1) })).toEqual([])
    expect(find({ type: 'handle', handle: handleOf(2) })).toEqual([])
  })
})
