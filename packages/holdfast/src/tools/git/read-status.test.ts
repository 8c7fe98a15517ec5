import { describe, expect, it } from 'vitest'
import { parseStatus } from './read-status.ts'

const bytes = (...parts: readonly string[]) => Buffer.from(parts.map((part) => `${part}\0`).join(''))
const object = 'a'.repeat(40)
const other = 'b'.repeat(40)

describe('parseStatus', () => {
  it('lists changed, new, deleted and ignored files below the workdir, with what the commit has', () => {
    const printed = bytes(
      `# branch.oid ${other}`,
      '# branch.head main',
      `1 .M N... 100644 100755 100644 ${object} ${other} sub/a b.txt`,
      `1 A. N... 000000 100644 100644 ${'0'.repeat(40)} ${object} sub/staged`,
      `u UU N... 100644 100644 100644 100644 ${object} ${object} ${object} sub/both`,
      '? sub/é',
      '? elsewhere',
      '? sub/folder/',
      '! sub/dist/',
      '! dist/',
    )
    expect(parseStatus(printed, 'sub/')).toEqual({
      head: other,
      paths: ['a b.txt', 'staged', 'both', 'é'],
      ignored: ['dist/'],
      committed: new Map([
        ['a b.txt', { gitMode: '100644', object }],
        ['staged', null],
        ['é', null],
      ]),
      unreadable: [],
    })
  })

  it('has no head before the first commit', () => {
    expect(parseStatus(bytes('# branch.oid (initial)'), '').head).toBeNull()
  })

  it('separates names that are not UTF-8, and keeps their bytes', () => {
    const printed = Buffer.concat([Buffer.from('? é/bad'), Buffer.from([0xff, 0]), bytes('? é/good')])
    expect(parseStatus(printed, 'é/')).toMatchObject({ paths: ['good'], unreadable: ['bad\xff'] })
  })
})
