import { createVirtualClock } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { stillness } from '../testing/let-waits-pass.ts'
import { abortableDelay } from './effects/with-retries.ts'

describe('a pause', () => {
  it('lasts as long as it is told to', async () => {
    const clock = createVirtualClock()
    let isOver = false
    const paused = abortableDelay(clock, 1000, new AbortController().signal).then(() => {
      isOver = true
    })
    clock.advance(999)
    await stillness()
    expect(isOver).toBe(false)
    clock.advance(1)
    await paused
  })

  it('is over at once when someone aborts, and leaves nothing behind', async () => {
    const clock = createVirtualClock()
    const stop = new AbortController()
    const paused = abortableDelay(clock, 1000, stop.signal)
    stop.abort()
    await paused
    expect(clock.nextMs()).toBeNull()
    await abortableDelay(clock, 1000, stop.signal)
    expect(clock.nextMs()).toBeNull()
  })
})
