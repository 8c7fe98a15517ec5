import { createGate } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createKeyedQueue, createSerialQueue } from './serial-queue.ts'

describe('a serial queue', () => {
  it('runs one task at a time, in order', async () => {
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

  it('rejects to the caller when a task fails, and runs the next', async () => {
    const enqueue = createSerialQueue()
    const broken = enqueue(() => Promise.reject(new Error('broken')))
    const next = enqueue(async () => 'fine')
    await expect(broken).rejects.toThrow('broken')
    expect(await next).toBe('fine')
  })
})

describe('a keyed queue', () => {
  it('runs tasks of one key in order, and does not let other keys wait', async () => {
    const enqueue = createKeyedQueue()
    const gate = createGate()
    const done: string[] = []
    const first = enqueue('a', async () => {
      await gate.pass()
      done.push('first of a')
    })
    const second = enqueue('a', async () => void done.push('second of a'))
    await enqueue('b', async () => void done.push('b'))
    expect(done).toEqual(['b'])
    gate.open()
    await Promise.all([first, second])
    expect(done).toEqual(['b', 'first of a', 'second of a'])
  })
})
