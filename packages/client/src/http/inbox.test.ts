import { expect, it } from 'vitest'
import { createInbox } from './inbox.ts'

it('gives its items in order, and ends after the last one', async () => {
  const inbox = createInbox<number>(10)
  const read: number[] = []
  const reading = (async () => {
    for await (const item of inbox) read.push(item)
  })()
  inbox.push(1)
  inbox.push(2)
  await Promise.resolve()
  inbox.push(3)
  inbox.close()
  await reading
  expect([read, inbox.push(4)]).toEqual([[1, 2, 3], false])
})

it('takes no more items than its limit', () => {
  const inbox = createInbox<number>(2)
  expect([inbox.push(1), inbox.push(2), inbox.push(3)]).toEqual([true, true, false])
})
