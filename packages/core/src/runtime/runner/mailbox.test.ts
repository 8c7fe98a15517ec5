import { createGate } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createMailbox } from './mailbox.ts'

describe('the mailbox', () => {
  it('does one thing after the other, in order', async () => {
    const mailbox = createMailbox()
    const gate = createGate()
    const done: string[] = []
    const first = mailbox.put(async () => {
      await gate.pass()
      done.push('first')
    })
    const second = mailbox.put(async () => void done.push('second'))
    await gate.reached
    expect(done).toEqual([])
    gate.open()
    await Promise.all([first, second])
    expect(done).toEqual(['first', 'second'])
  })

  it('tells whoever put it in that their work broke, and goes on with the next', async () => {
    const mailbox = createMailbox()
    const broken = mailbox.put(() => Promise.reject(new Error('broken')))
    const next = mailbox.put(async () => 'fine')
    await expect(broken).rejects.toThrow('broken')
    expect(await next).toBe('fine')
  })
})
