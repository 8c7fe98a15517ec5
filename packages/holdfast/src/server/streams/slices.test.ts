import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createSlices } from './turns.ts'

it('runs a bounded number in each turn of the event loop, in order', async () => {
  const { run } = createSlices(50)
  const done: number[] = []
  for (let each = 0; each < 1000; each++) run(() => done.push(each))
  const perTurn = [done.length]
  while (done.length < 1000) {
    const before = done.length
    await nextTurn()
    perTurn.push(done.length - before)
  }
  expect(Math.max(...perTurn)).toBe(50)
  expect(done).toEqual(Array.from({ length: 1000 }, (_, each) => each))
  await nextTurn()
  await nextTurn()
  run(() => done.push(1000))
  expect(done.at(-1)).toBe(1000)
})
