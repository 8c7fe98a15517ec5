import { createGate } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createKeyedMutex } from './keyed-mutex.ts'

describe('a keyed mutex', () => {
  it('runs work with one key in sequence, and work with other keys meanwhile', async () => {
    const turnstiles = createKeyedMutex<string>()
    const gate = createGate()
    const done: string[] = []
    const first = turnstiles.take('a', async () => {
      await gate.pass()
      done.push('first')
    })
    const second = turnstiles.take('a', async () => void done.push('second'))
    await turnstiles.take('b', async () => void done.push('other'))
    expect(done).toEqual(['other'])
    gate.open()
    await Promise.all([first, second])
    expect(done).toEqual(['other', 'first', 'second'])
  })

  it('is free again when the work succeeds or fails', async () => {
    const turnstiles = createKeyedMutex<string>()
    expect(turnstiles.free('a')).toBeNull()
    const failing = turnstiles.take('a', () => Promise.reject(new Error('no')))
    const free = turnstiles.free('a')
    expect(free).not.toBeNull()
    await expect(failing).rejects.toThrow('no')
    await free
    expect(await turnstiles.take('a', async () => 'next')).toBe('next')
    await turnstiles.free('a')
    expect(turnstiles.free('a')).toBeNull()
  })
})
