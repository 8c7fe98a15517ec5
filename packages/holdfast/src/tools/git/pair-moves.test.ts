import { BlobHash, type FileChange } from '@holdfast/protocol'
import { expect, it, vi } from 'vitest'
import { pairMoves } from './pair-moves.ts'

const hash = (letter: string) => BlobHash.parse(letter.repeat(64))
const file = (letter: string) => ({ type: 'file', hash: hash(letter), mode: 0o644 }) as const
const gone = (path: string, letter: string): FileChange => ({ path, change: 'deleted', before: file(letter) })
const made = (path: string, letter: string): FileChange => ({
  path,
  change: 'created',
  before: { type: 'absent' },
  after: hash(letter),
  mode: 0o644,
})
const changed = (path: string, from: string, to: string): FileChange => ({
  path,
  change: 'modified',
  before: file(from),
  after: hash(to),
  mode: 0o644,
})
const shown = (...changes: readonly FileChange[]) =>
  pairMoves(changes).map(({ path, change, from, replaced }) =>
    [change, from, path, replaced?.type === 'file' ? replaced.hash[0] : undefined].filter((one) => one !== undefined),
  )

it('joins the files of a moved folder by their names, also equal ones', () => {
  const changes = [gone('old/x', 'e'), gone('old/y', 'e'), made('new/y', 'e'), made('new/x', 'e')]
  expect(shown(...changes)).toEqual([
    ['moved', 'old/y', 'new/y'],
    ['moved', 'old/x', 'new/x'],
  ])
})

it('keeps what a moved file replaced, unless that was moved out of the way', () => {
  expect(shown(gone('a', 'a'), changed('b', 'b', 'a'))).toEqual([['moved', 'a', 'b', 'b']])
  expect(shown(gone('a', 'a'), changed('b', 'b', 'a'), made('c', 'b'))).toEqual([
    ['moved', 'b', 'c'],
    ['moved', 'a', 'b'],
  ])
})

it('does not take a copy for a move: its source is still there', () => {
  expect(shown(changed('config', 'a', 'b'), made('config.bak', 'a'))).toEqual([
    ['modified', 'config'],
    ['created', 'config.bak'],
  ])
  expect(shown(gone('a', 'a'), made('b', 'a'), made('c', 'a'))).toEqual([
    ['created', 'c'],
    ['moved', 'a', 'b'],
  ])
})

it('joins a link that is gone and one elsewhere with the same target', () => {
  const link = (path: string, target: string): FileChange => ({
    path,
    change: 'deleted',
    before: { type: 'link', target },
  })
  const made = (path: string): FileChange => ({ path, change: 'created', before: { type: 'absent' } })
  const changes = [link('ln', 'a'), link('other', 'b'), made('ln2'), made('new')]
  const links = new Map([
    ['ln2', 'a'],
    ['new', 'c'],
  ])
  expect(pairMoves(changes, links).map(({ path, change, from }) => [change, from, path])).toEqual([
    ['deleted', undefined, 'other'],
    ['created', undefined, 'new'],
    ['moved', 'ln', 'ln2'],
  ])
})

it('reads twice as many names of paths for twice as many moved files of equal content', () => {
  const readsAt = (count: number) => {
    const spies = (['split', 'lastIndexOf'] as const).map((name) => vi.spyOn(String.prototype, name))
    const paths = Array.from({ length: count }, (_, index) => `deep/er/n${index}/same`)
    const changes = paths.flatMap((path) => [gone(`old/${path}`, 'e'), made(`new/${path}`, 'e')])
    const moved = pairMoves(changes)
    const reads = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0)
    for (const spy of spies) spy.mockRestore()
    expect(moved.every(({ from, path }) => from?.slice(3) === path.slice(3))).toBe(true)
    return reads
  }
  const [small, large] = [readsAt(100), readsAt(200)]
  expect(large / small).toBeLessThan(2.2)
})
