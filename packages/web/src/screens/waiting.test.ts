import type { SessionNews } from '@holdfast/protocol'
import { aMeta } from '@holdfast/testkit/fixtures'
import { describe, expect, it } from 'vitest'
import { addToWaiting, newlyWaiting, tabTitle, topWaiting, waitingOf } from './waiting.ts'

const lamp = aMeta({ id: `ses_0${'1'.padStart(25, '0')}`, title: 'lamp fix', waiting: 1 })
const docs = aMeta({ id: `ses_0${'2'.padStart(25, '0')}`, title: 'docs' })
const changed = (session: typeof lamp): SessionNews => ({ type: 'session.changed', session })

describe('the sessions that wait', () => {
  it('are those with an open question', () => {
    expect([...waitingOf([lamp, docs])]).toEqual([[lamp.id, lamp]])
  })

  it('follow the news, and stay the same map while nothing changes', () => {
    const before = waitingOf([lamp])
    expect(addToWaiting(before, changed(lamp))).toBe(before)
    expect(addToWaiting(before, changed(docs))).toBe(before)
    const both = addToWaiting(before, changed({ ...docs, waiting: 2 }))
    expect(newlyWaiting(before, both)).toEqual([{ ...docs, waiting: 2 }])
    expect(addToWaiting(both, { type: 'session.removed', session: lamp.id }).size).toBe(1)
    expect(addToWaiting(both, changed({ ...lamp, waiting: undefined })).has(lamp.id)).toBe(false)
  })

  it('count once with their subagents', () => {
    const child = { ...docs, waiting: 1, parent: lamp.id, subagent: { agent: 'general' } } as typeof docs
    expect(topWaiting(waitingOf([lamp, child]))).toEqual([lamp])
    expect(topWaiting(waitingOf([child]))).toEqual([child])
    expect(newlyWaiting(waitingOf([lamp]), waitingOf([lamp, child]))).toEqual([])
  })

  it('are counted in the title of every tab', () => {
    expect(tabTitle(0, false, null)).toBe('Holdfast')
    expect(tabTitle(2, false, 'docs')).toBe('(2) docs · Holdfast')
    expect(tabTitle(1, true, 'lamp fix')).toBe('(1) ◆ lamp fix · Holdfast')
  })
})
