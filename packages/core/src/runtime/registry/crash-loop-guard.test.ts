import { aSession, createVirtualClock } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createCrashLoopGuard } from './crash-loop-guard.ts'

describe('a session that crashes', () => {
  it('is restarted three times within a minute, then refused with its first cause', () => {
    const restarts = createCrashLoopGuard(createVirtualClock())
    expect(['first', 'second', 'third'].map((cause) => restarts.note(aSession, cause))).toEqual([true, true, true])
    expect(restarts.refusal(aSession)).toBeNull()
    expect(restarts.note(aSession, 'fourth')).toBe(false)
    expect(restarts.refusal(aSession)).toMatchObject({
      code: 'session_stopped',
      details: { reason: 'restart_exhausted', cause: 'first' },
    })
  })

  it('is restarted again after a minute without a crash', async () => {
    const clock = createVirtualClock()
    const restarts = createCrashLoopGuard(clock)
    for (const cause of ['a', 'b', 'c', 'd']) restarts.note(aSession, cause)
    await clock.advance(60_000)
    expect(restarts.refusal(aSession)).toBeNull()
    expect(restarts.note(aSession, 'again')).toBe(true)
  })
})
