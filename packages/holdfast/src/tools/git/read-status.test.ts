import { describe, expect, it } from 'vitest'
import { hasMoreEntries } from './read-entries.ts'
import { parseStatus, readStatus } from './read-status.ts'
import type { Repository } from './repository.ts'
import { describeStatus } from './status.ts'

const bytes = (...parts: readonly string[]) => Buffer.from(parts.map((part) => `${part}\0`).join(''))
const object = 'a'.repeat(40)
const other = 'b'.repeat(40)

describe('parseStatus', () => {
  it('lists changed, new, deleted and ignored files below the workdir, with what the commit has', async () => {
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
    expect(await parseStatus(printed, 'sub/')).toEqual({
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

  it('has no head before the first commit', async () => {
    expect((await parseStatus(bytes('# branch.oid (initial)'), '')).head).toBeNull()
  })

  it('separates names that are not UTF-8, and keeps their bytes', async () => {
    const printed = Buffer.concat([Buffer.from('? é/bad'), Buffer.from([0xff, 0]), bytes('? é/good')])
    expect(await parseStatus(printed, 'é/')).toMatchObject({ paths: ['good'], unreadable: ['bad\xff'] })
  })
})

/** Counts the slices of other work that run meanwhile. */
async function countSlices(work: () => Promise<unknown>): Promise<number> {
  let slices = 0
  let next = setImmediate(function count() {
    slices++
    next = setImmediate(count)
  })
  await work()
  clearImmediate(next)
  return slices
}

describe('a long list of git', () => {
  const list = (count: number) => Buffer.from(Array.from({ length: count }, (_, index) => `? new-${index}\0`).join(''))

  it.each([
    ['compared', parseStatus],
    ['described', (printed: Buffer) => describeStatus(printed, '', false)],
  ])('is %s in slices', async (_, read) => {
    const [small, large] = [list(10_000), list(20_000)]
    const [once, twice] = [await countSlices(() => read(small, '')), await countSlices(() => read(large, ''))]
    expect(once).toBeGreaterThanOrEqual(10_000 / 500)
    expect(twice).toBeGreaterThanOrEqual(20_000 / 500)
  })

  it('is not read if it has more entries than are compared', async () => {
    const statusOf = (count: number) => {
      const answer = { ok: true, value: { text: '', bytes: list(count), isCut: false } }
      // Only what the status is read with.
      return readStatus({ git: async () => answer, prefix: '' } as unknown as Repository)
    }
    expect((await statusOf(100_000))?.paths).toHaveLength(100_000)
    for (const count of [100_001, 200_000]) expect(await statusOf(count)).toBeNull()
    expect([hasMoreEntries(list(10), 10), hasMoreEntries(list(11), 10)]).toEqual([false, true])
  })

  it('is described with the first entries and the number of the others', async () => {
    const printed = Buffer.concat([
      bytes('# branch.oid abc', '# branch.head main'),
      bytes(`2 R. N... 100644 100644 100644 ${object} ${object} R100 new name`, 'old name'),
      list(501),
    ])
    const text = await describeStatus(printed, '', false)
    expect(text).toContain('On branch main\nStaged:\n  renamed new name (from old name)\nUntracked:\n  new-0\n')
    expect(text).toContain('  new-499\n  [1 more]')
  })
})
