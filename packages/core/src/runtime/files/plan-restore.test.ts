import type { BeforeImage, FileState } from '@holdfast/protocol'
import { BlobHash } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import type { PathChange } from './path-change.ts'
import { planRestore } from './plan-restore.ts'

const file = (digit: string, mode = 0o644) => ({ type: 'file', hash: BlobHash.parse(digit.repeat(64)), mode }) as const
const absent: FileState = { type: 'absent' }
const change = (seq: number, before: BeforeImage, after: PathChange['after'], path = 'a'): PathChange => ({
  seq,
  call: seq,
  path,
  before,
  after,
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
      together: [],
    })
  })

  it('leaves out a file that is as it was', () => {
    expect(planRestore([change(1, absent, file('1')), change(2, file('1'), absent)], {})).toEqual({
      wanted: [],
      refused: [],
      finished: [],
      together: [],
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
    expect(planRestore(changes, { only: [1] })).toEqual({
      wanted: [{ path: 'b', expected: file('4'), target: absent }],
      refused: [{ path: 'a', why: 'this session changed it again since' }],
      finished: [],
      together: [],
    })
  })

  it('puts what was found after a background command back only where it is named, or by an undo', () => {
    const changes = [change(1, file('1'), file('2')), { ...change(2, file('2'), file('3')), isDuring: true as const }]
    const why = 'changed while a background command ran; name it to put it back'
    expect(planRestore(changes, {})).toMatchObject({ wanted: [], refused: [{ path: 'a', why }] })
    const wanted = [{ path: 'a', expected: file('3'), target: file('1') }]
    expect(planRestore(changes, { paths: ['a'] })).toMatchObject({ wanted, refused: [] })
    expect(planRestore(changes, { isUndo: true })).toMatchObject({ wanted, refused: [] })
  })

  describe('with a command in the background', () => {
    const during = (call: number, seq: number, before: BeforeImage, after: PathChange['after']): PathChange => ({
      ...change(seq, before, after),
      call,
      isDuring: true,
    })
    const planned = (changes: readonly PathChange[], after: number) =>
      planRestore(changes, { after, paths: ['a'] }).wanted.map(({ expected, target }) => [expected, target])

    it('takes what other calls did while it ran as a part of what it did', () => {
      const changes = [change(4, file('2'), file('3')), during(1, 9, file('1'), file('5'))]
      expect(planned(changes, 0)).toEqual([[file('5'), file('1')]])
      expect(planRestore(changes, {})).toMatchObject({ wanted: [], refused: [{ path: 'a' }] })
      const back = [change(4, file('2'), file('1')), during(1, 9, file('1'), file('1'))]
      expect(planRestore(back, { paths: ['a'] })).toMatchObject({ wanted: [], refused: [] })
    })

    it('goes on with what another call left, if it began before the point or before that call ended', () => {
      const changes = [change(4, file('2'), file('3')), during(1, 9, file('1'), file('5'))]
      expect(planned(changes, 2)).toEqual([[file('5'), file('2')]])
      expect(planned([during(1, 9, file('1'), file('5'))], 2)).toEqual([])
      expect(planned([during(1, 6, file('1'), file('2')), during(3, 9, file('4'), file('5'))], 0)).toEqual([
        [file('5'), file('1')],
      ])
    })

    it('is not undone alone where another call changed the file too', () => {
      const changes = [change(4, file('2'), file('3')), during(1, 9, file('1'), file('5'))]
      for (const [only, why] of [
        [[9], 'another call changed it'],
        [[4], 'this session changed it again since'],
      ] as const)
        expect(planRestore(changes, { only, paths: ['a'] })).toMatchObject({
          wanted: [],
          refused: [{ path: 'a', why: expect.stringContaining(why) }],
        })
    })

    it('is no excuse for what others changed before it', () => {
      const changes = [change(1, file('1'), file('2')), during(3, 9, file('4'), file('5'))]
      expect(planRestore(changes, { paths: ['a'] })).toMatchObject({
        wanted: [],
        refused: [{ path: 'a', why: 'others changed it between changes of this session' }],
      })
    })
  })

  it('takes only the paths that are asked for, and refuses those it does not know', () => {
    const changes = [change(1, absent, file('1')), change(2, absent, file('2'), 'b')]
    expect(planRestore(changes, { paths: ['b', 'c'] })).toEqual({
      wanted: [{ path: 'b', expected: file('2'), target: absent, isNamed: true }],
      refused: [{ path: 'c', why: 'this session did not change it' }],
      finished: [],
      together: [],
    })
  })
})

describe('a plan to put a move back', () => {
  const move = (seq: number, from: string, to: string, was = file('1'), replaced: BeforeImage = absent) => [
    change(seq, was, absent, from),
    { ...change(seq, replaced, was, to), movedFrom: from },
  ]
  const plan = (changes: readonly PathChange[], paths?: readonly string[], only?: number) => {
    const { wanted, refused } = planRestore(changes, { paths, only: only === undefined ? undefined : [only] })
    return [...wanted.map(({ path, target, movedFrom }) => [path, target, movedFrom]), ...refused]
  }
  const whole = [
    ['a', file('1'), 'b'],
    ['b', absent, undefined],
  ]

  it.each([['a'], ['b']])('takes both paths when only %s is asked for', (path) => {
    expect(plan(move(1, 'a', 'b'), [path])).toEqual(whole)
    expect(plan(move(1, 'a', 'b'), [path], 1)).toEqual(whole)
  })

  it('gives the new path what was there before, and takes later edits and moves with it', () => {
    expect(plan(move(1, 'a', 'b', file('1'), file('9')), ['a'])).toEqual([whole[0], ['b', file('9'), undefined]])
    const edited = [...move(1, 'a', 'b'), change(2, file('1'), file('2'), 'b'), ...move(3, 'b', 'c', file('2'))]
    expect(plan(edited, ['c'])).toEqual([
      ['a', file('1'), 'c'],
      ['c', absent, undefined],
    ])
  })

  it('brings a file back that was deleted after its move, and leaves one alone that is back', () => {
    const deleted = [...move(1, 'a', 'b'), change(2, file('1'), absent, 'b')]
    expect(plan(deleted, ['b'])).toEqual([['a', file('1'), undefined]])
    expect(plan([...move(1, 'a', 'b'), ...move(2, 'b', 'a')], ['a'])).toEqual([])
  })

  it('leaves both paths alone if one of them cannot be put back, so that no file is lost', () => {
    const known = move(1, 'a', 'b')
    const meanwhile = [...known, change(2, file('7'), file('8'), 'b')]
    expect(plan(meanwhile, ['a'])).toEqual([
      { path: 'b', why: 'others changed it between changes of this session' },
      { path: 'a', why: expect.stringContaining('it belongs together with b, which stays: others changed it') },
    ])
    const notKept = [
      { ...known[0], before: { type: 'not_kept', why: 'too large' } } as PathChange,
      known[1] as PathChange,
    ]
    expect(plan(notKept, ['b'])).toMatchObject([
      { path: 'a' },
      { path: 'b', why: expect.stringContaining('too large') },
    ])
  })

  it('undoes a restore of a move as a whole', () => {
    const restored = [
      { ...change(5, absent, file('1'), 'a'), movedFrom: 'b', call: null },
      { ...change(5, file('1'), absent, 'b'), call: null },
    ]
    expect(plan([...move(1, 'a', 'b'), ...restored].slice(2), undefined, 5)).toEqual([
      ['a', absent, undefined],
      ['b', file('1'), 'a'],
    ])
  })
})

describe('a plan for a file and a folder of one name', () => {
  it('says what each must make room for', () => {
    const changes = [
      change(1, file('1'), absent, 'a'),
      change(1, absent, file('1'), 'a/b/c'),
      change(1, absent, file('2'), 'ab'),
    ]
    expect(planRestore(changes, {}).wanted).toEqual([
      { path: 'a', expected: absent, target: file('1'), clears: ['a/b/c'] },
      { path: 'a/b/c', expected: file('1'), target: absent },
      { path: 'ab', expected: file('2'), target: absent },
    ])
  })

  it('deletes no file if the other one is refused: an old log may not tell that it was moved', () => {
    const changes = [change(1, file('1'), null, 'a'), change(1, absent, file('1'), 'a/inner')]
    expect(planRestore(changes, {})).toMatchObject({ wanted: [], refused: [{ path: 'a' }, { path: 'a/inner' }] })
  })

  it('deletes no copy if the file is gone that it was made of, and cannot come back', () => {
    const changes = [
      change(1, absent, file('1'), 'copy'),
      change(2, file('1'), absent, 'a'),
      change(3, file('8'), absent, 'a'),
    ]
    expect(planRestore(changes, {})).toMatchObject({ wanted: [], refused: [{ path: 'a' }, { path: 'copy' }] })
    expect(planRestore(changes, { paths: ['copy'] }).wanted).toMatchObject([{ path: 'copy', target: absent }])
  })
})

describe('a plan to undo one call', () => {
  const [old, broken, other] = [file('1'), file('2'), file('3')]
  const byCall = change(5, old, broken)
  const wanted = [{ path: 'a', expected: broken, target: old }]

  it('has nothing to do once a restore has put the file back', () => {
    expect(planRestore([byCall, change(8, broken, old)], { only: [5] })).toMatchObject({ wanted: [], refused: [] })
  })

  it('can be made again after that restore was undone', () => {
    const changes = [byCall, change(8, broken, old), change(9, old, broken)]
    expect(planRestore(changes, { only: [5] })).toMatchObject({ wanted, refused: [] })
  })

  it('leaves a file alone that others changed in between, even if it is back again', () => {
    const changes = [byCall, change(8, other, old), change(9, old, broken)]
    expect(planRestore(changes, { only: [5] })).toMatchObject({ wanted: [], refused: [{ path: 'a' }] })
  })
})
