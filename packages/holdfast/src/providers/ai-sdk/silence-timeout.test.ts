import { createVirtualClock } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createSilenceTimeout } from './silence-timeout.ts'

const never = () => new Promise<never>(() => undefined)

function begin() {
  const clock = createVirtualClock()
  const abort = new AbortController()
  return { clock, abort, patience: createSilenceTimeout({ signal: abort.signal, silenceMs: 1000, clock }) }
}

describe('the silence timeout', () => {
  it('counts from the last fragment, not from the first wait', async () => {
    const { clock, patience } = begin()
    await patience.wait(async () => 'a word')
    clock.advance(900)
    await patience.wait(async () => 'another')
    const third = patience.wait(never)
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
    const { clock, patience } = begin()
    await patience.wait(async () => 'a word')
    clock.advance(5000)
    expect(await patience.wait(async () => 'another')).toEqual({ type: 'done', value: 'another' })
  })

  it('ends a wait at an abort, and starts none after it', async () => {
    const { abort, patience } = begin()
    const waiting = patience.wait(never)
    abort.abort()
    expect(await waiting).toEqual({ type: 'aborted' })
    expect(await patience.wait(async () => 'late')).toEqual({ type: 'aborted' })
  })

  it('treats a synchronous throw as a failure', async () => {
    const { patience } = begin()
    const error = new Error('at once')
    const waited = await patience.wait(() => {
      throw error
    })
    expect(waited).toEqual({ type: 'failed', error })
  })

  it('leaves no timer after stop', async () => {
    const { clock, patience } = begin()
    await patience.wait(async () => 'a word')
    patience.stop()
    expect(clock.nextMs()).toBeNull()
  })
})
