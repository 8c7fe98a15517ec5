import type { BeforeImage, FileState } from '@holdfast/protocol'
import { BlobHash } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import type { PathChange } from './path-change.ts'
import { planRestore } from './plan-restore.ts'

const file = (digit: string, mode = 0o644) => ({ type: 'file', hash: BlobHash.parse(digit.repeat(64)), mode }) as const
const absent: FileState = { type: 'absent' }
const change = (seq: number, before: BeforeImage, after: PathChange['after'], path = 'a'): PathChange => ({
  ...{ seq, call: seq, path, before, after },
})

describe('planRestore', () => {
  it('puts the oldest content back where the newest is expected', () => {
    const changes = [
      change(1, file('1'), file('2')),
      change(2, file('2'), file('3')),
      change(3, absent, file('4'), 'b'),
    ]
    expect(planRestore(changes, {})).toEqual({
      wanted: [
        { path: 'a', expected: file('3'), target: file('1') },
        { path: 'b', expected: file('4'), target: absent },
      ],
      refused: [],
      finished: [],
    })
  })

  it('leaves out a file that is as it was', () => {
    expect(planRestore([change(1, absent, file('1')), change(2, file('1'), absent)], {})).toEqual({
      wanted: [],
      refused: [],
      finished: [],
    })
  })

  it.each<[string, readonly PathChange[], string]>([
    ['others changed it', [change(1, absent, file('1')), change(2, file('2'), file('3'))], 'others changed it between'],
    [
      'others changed its mode',
      [change(1, absent, file('1')), change(2, file('1', 0o755), absent)],
      'others changed it',
    ],
    ['its content was not kept', [change(1, { type: 'not_kept', why: 'too large' }, absent)], 'not kept: too large'],
    ['what was left is not known', [change(1, absent, null)], 'what the session left there was not recorded'],
  ])('refuses a file if %s', (_, changes, why) => {
    const { wanted, refused } = planRestore(changes, {})
    expect(wanted).toEqual([])
    expect(refused).toEqual([{ path: 'a', why: expect.stringContaining(why) }])
  })

  it('accepts any mode where none was recorded', () => {
    const left = { ...file('1'), mode: null }
    const { refused } = planRestore([change(1, absent, left), change(2, file('1', 0o755), file('2'))], {})
    expect(refused).toEqual([])
  })

  it('undoes only one record, unless the file changed again', () => {
    const changes = [
      change(1, file('1'), file('2')),
      change(1, absent, file('4'), 'b'),
      change(2, file('2'), file('3')),
    ]
    expect(planRestore(changes, { only: 1 })).toEqual({
      wanted: [{ path: 'b', expected: file('4'), target: absent }],
      refused: [{ path: 'a', why: 'this session changed it again since' }],
      finished: [],
    })
  })

  it('takes only the paths that are asked for, and refuses those it does not know', () => {
    const changes = [change(1, absent, file('1')), change(2, absent, file('2'), 'b')]
    expect(planRestore(changes, { paths: ['b', 'c'] })).toEqual({
      wanted: [{ path: 'b', expected: file('2'), target: absent, isNamed: true }],
      refused: [{ path: 'c', why: 'this session did not change it' }],
      finished: [],
    })
  })
})

describe('a plan to undo one call', () => {
  const [old, broken, other] = [file('1'), file('2'), file('3')]
  const byCall = change(5, old, broken)
  const wanted = [{ path: 'a', expected: broken, target: old }]

  it('has nothing to do once a restore has put the file back', () => {
    expect(planRestore([byCall, change(8, broken, old)], { only: 5 })).toMatchObject({ wanted: [], refused: [] })
  })

  it('can be made again after that restore was undone', () => {
    const changes = [byCall, change(8, broken, old), change(9, old, broken)]
    expect(planRestore(changes, { only: 5 })).toMatchObject({ wanted, refused: [] })
  })

  it('leaves a file alone that others changed in between, even if it is back again', () => {
    const changes = [byCall, change(8, other, old), change(9, old, broken)]
    expect(planRestore(changes, { only: 5 })).toMatchObject({ wanted: [], refused: [{ path: 'a' }] })
  })
})
