import { createSerialQueue } from '@holdfast/protocol'
import { createGate } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'

describe('the queue of a session', () => {
  it('runs one piece of work after the other, in order', async () => {
    const enqueue = createSerialQueue()
    const gate = createGate()
    const done: string[] = []
    const first = enqueue(async () => {
      await gate.pass()
      done.push('first')
    })
    const second = enqueue(async () => void done.push('second'))
    await gate.reached
    expect(done).toEqual([])
    gate.open()
    await Promise.all([first, second])
    expect(done).toEqual(['first', 'second'])
  })

  it('rejects to the caller when work fails, and goes on with the next', async () => {
    const enqueue = createSerialQueue()
    const broken = enqueue(() => Promise.reject(new Error('broken')))
    const next = enqueue(async () => 'fine')
    await expect(broken).rejects.toThrow('broken')
    expect(await next).toBe('fine')
  })
})
