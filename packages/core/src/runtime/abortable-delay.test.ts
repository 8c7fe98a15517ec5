import { createVirtualClock } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Clock } from '../ports/clock.ts'
import { stillness } from '../testing/let-waits-pass.ts'
import { abortableDelay } from './abortable-delay.ts'

describe('a delay', () => {
  it('lasts the given time', async () => {
    const clock = createVirtualClock()
    let isOver = false
    const paused = abortableDelay(clock, 1000, { signal: new AbortController().signal, keepsAlive: false }).then(() => {
      isOver = true
    })
    clock.advance(999)
    await stillness()
    expect(isOver).toBe(false)
    clock.advance(1)
    await paused
  })

  it('ends at once on abort, and leaves no timer', async () => {
    const clock = createVirtualClock()
    const stop = new AbortController()
    const options = { signal: stop.signal, keepsAlive: false }
    const paused = abortableDelay(clock, 1000, options)
    stop.abort()
    await paused
    expect(clock.nextMs()).toBeNull()
    await abortableDelay(clock, 1000, options)
    expect(clock.nextMs()).toBeNull()
  })

  it.each([true, false])('keeps the process alive only if it is told so: %s', (keepsAlive) => {
    const asked: unknown[] = []
    const clock = {
      ...createVirtualClock(),
      after: (...[, , options]: Parameters<Clock['after']>) => {
        asked.push(options)
        return () => undefined
      },
    }
    void abortableDelay(clock, 1000, { signal: new AbortController().signal, keepsAlive })
    expect(asked).toEqual([{ keepsAlive }])
  })
})
