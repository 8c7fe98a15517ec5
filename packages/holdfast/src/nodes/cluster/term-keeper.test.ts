import { fault, HoldfastError } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startTermKeeper } from './term-keeper.ts'

const termMs = 4000
let answer: () => Promise<boolean>
let did: string[]
let keeper: ReturnType<typeof startTermKeeper>
let nowMs = 0
let goOn: () => Promise<void>

beforeEach(() => {
  vi.useFakeTimers()
  did = []
  nowMs = 0
  answer = async () => true
  const note = (what: string) => async () => void did.push(what)
  goOn = note('go on')
  keeper = startTermKeeper({
    cluster: { termMs, renew: () => answer() },
    id: 'node_a',
    onEnding: () => void did.push('stop'),
    onKept: () => goOn(),
    onEnded: note('join'),
    onProblem: (cause) => void did.push(String(cause)),
    now: () => nowMs,
  })
})
afterEach(() => {
  keeper.close()
  vi.useRealTimers()
})

const pass = async (ms: number) => {
  for (let step = 0; step < ms; step += 100) {
    nowMs += 100
    await vi.advanceTimersByTimeAsync(100)
  }
}

describe('the keeper of a term', () => {
  it('does nothing while the term is renewed', async () => {
    await pass(20_000)
    expect(did).toEqual([])
  })

  it('stops all effects before the term ends, and goes on when it is renewed in time', async () => {
    await pass(1000)
    answer = () => new Promise(() => undefined)
    await pass(termMs * 0.7)
    expect(did).toEqual([])
    await pass(termMs * 0.2)
    expect(did).toEqual(['stop'])
  })

  it('goes on after an outage that was shorter than the term', async () => {
    answer = async () => {
      throw new Error('away')
    }
    await pass(termMs * 0.9)
    expect(did).toContain('stop')
    answer = async () => true
    await pass(1000)
    expect(did.at(-1)).toBe('go on')
  })

  it('goes on with the next renewal if the store was lost again while it went on', async () => {
    answer = async () => {
      throw new Error('away')
    }
    await pass(termMs * 0.9)
    answer = async () => true
    goOn = async () => {
      goOn = async () => void did.push('go on')
      throw new HoldfastError(fault('storage_error', 'away again'))
    }
    await pass(1000)
    expect(did.filter((what) => what !== 'Error: away')).toEqual(['stop', 'stop'])
    await pass(1000)
    expect(did.filter((what) => what !== 'Error: away')).toEqual(['stop', 'stop', 'go on'])
  })

  it('joins again if its term has ended, also after a pause in which no timer ran', async () => {
    await pass(1000)
    nowMs += 60_000
    answer = async () => false
    keeper.renewNow()
    await vi.advanceTimersByTimeAsync(0)
    expect(did).toEqual(['stop', 'join', 'go on'])
  })

  it('counts a term from when its renewal was sent', async () => {
    let reply: (kept: boolean) => void = () => undefined
    answer = () =>
      new Promise((resolve) => {
        reply = resolve
      })
    await pass(3000) // sent at 800
    reply(true)
    answer = () => new Promise(() => undefined)
    await pass(800 + termMs * 0.82 - 3000 - 200)
    expect(did).toEqual([])
    await pass(500)
    expect(did).toEqual(['stop'])
  })
})
