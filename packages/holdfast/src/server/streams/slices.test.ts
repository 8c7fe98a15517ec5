import { setImmediate as nextSlice } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createSlices } from './slices.ts'

it('runs a bounded number in each slice, in order', async () => {
  const { run } = createSlices(50)
  const done: number[] = []
  for (let each = 0; each < 1000; each++) run(() => done.push(each))
  const perSlice = [done.length]
  while (done.length < 1000) {
    const before = done.length
    await nextSlice()
    perSlice.push(done.length - before)
  }
  expect(Math.max(...perSlice)).toBe(50)
  expect(done).toEqual(Array.from({ length: 1000 }, (_, each) => each))
  await nextSlice()
  await nextSlice()
  run(() => done.push(1000))
  expect(done.at(-1)).toBe(1000)
})

it('keeps its order while functions book the next slice for so long that the queue is never empty', async () => {
  const { run } = createSlices(100)
  const total = 20_000
  const ran: number[] = []
  let booked = 0
  const book = () => {
    const own = booked
    booked += 1
    run(() => {
      ran.push(own)
      if (booked < total) book()
    })
  }
  for (let each = 0; each < 300; each++) book()
  while (ran.length < total) await nextSlice()
  expect(ran).toEqual(Array.from({ length: total }, (_, each) => each))
})
