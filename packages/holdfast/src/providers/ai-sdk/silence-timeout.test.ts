import { createVirtualClock } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createSilenceTimeout, type WaitResult } from './silence-timeout.ts'

const never = () => new Promise<never>(() => undefined)

function begin() {
  const clock = createVirtualClock()
  const abort = new AbortController()
  const timeout = createSilenceTimeout({ signal: abort.signal, silenceMs: 1000, clock })
  const wait = <Value>(work: () => Promise<Value>) =>
    new Promise<WaitResult<Value>>((resolve) => timeout.wait(work, resolve))
  return { clock, abort, timeout, wait }
}

describe('the silence timeout', () => {
  it('counts from the last fragment, not from the first wait', async () => {
    const { clock, wait } = begin()
    await wait(async () => 'data')
    clock.advance(900)
    await wait(async () => 'more')
    const third = wait(never)
    let isOver = false
    void third.then(() => {
      isOver = true
    })
    clock.advance(999)
    await Promise.resolve()
    expect(isOver).toBe(false)
    clock.advance(1)
    expect(await third).toEqual({ type: 'silent' })
  })

  it('does not mistake a slow reader for a silent service', async () => {
    const { clock, wait } = begin()
    await wait(async () => 'data')
    clock.advance(5000)
    expect(await wait(async () => 'more')).toEqual({ type: 'done', value: 'more' })
  })

  it('ends a wait at an abort, and starts none after it', async () => {
    const { abort, wait } = begin()
    const waiting = wait(never)
    abort.abort()
    expect(await waiting).toEqual({ type: 'aborted' })
    expect(await wait(async () => 'late')).toEqual({ type: 'aborted' })
  })

  it('treats a synchronous throw as a failure', async () => {
    const { wait } = begin()
    const error = new Error('at once')
    const waited = await wait(() => {
      throw error
    })
    expect(waited).toEqual({ type: 'failed', error })
  })

  it('leaves no timer after stop', async () => {
    const { clock, timeout, wait } = begin()
    await wait(async () => 'data')
    timeout.stop()
    expect(clock.nextMs()).toBeNull()
  })
})
