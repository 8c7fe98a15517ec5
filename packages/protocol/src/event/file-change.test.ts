import { describe, expect, it } from 'vitest'
import { BlobHash } from '../value/id.ts'
import { isSameState, withoutSetId } from './file-change.ts'

const hash = BlobHash.parse('1'.repeat(64))
const file = (mode: number | null, of = hash) => ({ type: 'file', hash: of, mode }) as const
const absent = { type: 'absent' } as const
const link = (target: string) => ({ type: 'link', target }) as const
const notKept = { type: 'not_kept', why: 'too large' } as const

describe('isSameState', () => {
  it.each([
    ['the same file', file(0o644), file(0o644), true],
    ['another mode', file(0o644), file(0o755), false],
    ['other content', file(0o644), file(0o644, BlobHash.parse('2'.repeat(64))), false],
    ['setuid and setgid', file(0o6755), file(0o755), true],
    ['the sticky bit', file(0o1755), file(0o755), false],
    ['a mode that was not recorded', file(null), file(0o755), true],
    ['two modes that were not recorded', file(null), file(null), true],
    ['the same link', link('a'), link('a'), true],
    ['another target', link('a'), link('b'), false],
    ['nothing', absent, absent, true],
    ['a file and nothing', file(null), absent, false],
    ['content that was not kept', notKept, notKept, false],
    ['nothing and content that was not kept', absent, notKept, false],
  ] as const)('compares %s in both directions', (_name, one, other, isSame) => {
    expect([isSameState(one, other), isSameState(other, one)]).toEqual([isSame, isSame])
  })
})

describe('withoutSetId', () => {
  it('removes setuid and setgid only', () => {
    expect(withoutSetId(0o7755)).toBe(0o1755)
  })
})
