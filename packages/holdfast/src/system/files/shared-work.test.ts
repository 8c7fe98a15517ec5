import { expect, it } from 'vitest'
import { createSharedWork } from './shared-work.ts'

it('runs work once for all who ask at the same time, and again for those who ask later', async () => {
  const asked: string[] = []
  const work = createSharedWork(async (key) => asked.push(key))
  expect(await Promise.all([work('a'), work('b'), work('a')])).toEqual([1, 2, 1])
  expect(await work('a')).toBe(3)
  expect(asked).toEqual(['a', 'b', 'a'])
})

it('gives a failure to all who asked, and tries again for the next', async () => {
  let tries = 0
  const work = createSharedWork(async () => {
    tries++
    if (tries === 1) throw new Error('first')
    return tries
  })
  expect((await Promise.allSettled([work('a'), work('a')])).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ])
  expect(await work('a')).toBe(2)
})
