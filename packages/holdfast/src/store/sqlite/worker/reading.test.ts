import { fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Question } from '../rows/requests.ts'
import { createReading } from './reading.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const entry: Question = ['entry', 'session']
const search: Question = ['search', { text: 'a', limit: 1 }]
const moved = refuse(fault('storage_error', 'The file was moved.'))

/** Creates the threads of a store; each answers at once with its own name. */
function createThreads(answerOfWriter: Result<unknown> = ok('writer')) {
  const asked: string[] = []
  const note = (thread: string, answer: Result<unknown>) => async (request: readonly [string, ...unknown[]]) => {
    asked.push(`${thread} ${request[0]}`)
    return answer
  }
  const writer = { ask: note('writer', answerOfWriter) }
  const reader = { ask: note('reader', ok('reader')), close: async () => undefined }
  return { asked, ...createReading({ writer, reader }) }
}

describe('reading', () => {
  it('asks the writer first, and the reader from the first quiet moment on', async () => {
    const { asked, ask } = createThreads()
    for (let time = 0; time < 3; time++) {
      expect(await ask(entry)).toEqual(ok('writer'))
      await vi.advanceTimersByTimeAsync(40)
    }
    expect(asked).toEqual(['writer entry', 'writer entry', 'writer entry'])
    await vi.advanceTimersByTimeAsync(10)
    expect(asked.slice(3)).toEqual(['reader open'])
    expect(await ask(entry)).toEqual(ok('reader'))
  })

  it('does not wait longer for a quiet moment than half a second', async () => {
    const { asked, ask } = createThreads()
    for (let time = 0; time < 14; time++) {
      await ask(entry)
      await vi.advanceTimersByTimeAsync(40)
    }
    expect(asked).toEqual([...Array.from({ length: 13 }, () => 'writer entry'), 'reader open', 'reader entry'])
    expect(await ask(entry)).toEqual(ok('reader'))
  })

  it('asks the reader too, if the writer is stuck', async () => {
    const answered = Promise.withResolvers<Result<unknown>>()
    const asked: string[] = []
    const reader = {
      ask: async ([name]: Question) => ok(asked.push(name)),
      close: async () => undefined,
    }
    const { ask } = createReading({ writer: { ask: () => answered.promise }, reader })
    const stuck = ask(entry)
    await vi.advanceTimersByTimeAsync(499)
    expect(asked).toEqual([])
    const later = ask(entry)
    await vi.advanceTimersByTimeAsync(1)
    expect(await stuck).toEqual(ok(2))
    expect(asked).toEqual(['open', 'entry'])
    await vi.advanceTimersByTimeAsync(400) // not stuck yet
    expect(asked).toEqual(['open', 'entry'])
    answered.resolve(ok('writer'))
    expect(await later).toEqual(ok('writer'))
    await vi.advanceTimersByTimeAsync(500)
    expect(asked).toEqual(['open', 'entry'])
  })

  it('starts no reader for what every opening asks', async () => {
    const { asked, ask } = createThreads()
    await ask(['busy'])
    await ask(['nodes'])
    await ask(['tokens'])
    await ask(['list', { limit: 1, trashed: true, trashedBefore: 1 }])
    await vi.advanceTimersByTimeAsync(10_000)
    expect(asked).toEqual(['writer busy', 'writer nodes', 'writer tokens', 'writer list'])
  })

  it('asks the reader what takes long, and what the writer cannot answer', async () => {
    const first = createThreads()
    expect(await first.ask(search)).toEqual(ok('reader'))
    expect(first.asked).toEqual(['reader open', 'reader search'])
    const second = createThreads(moved)
    expect(await second.ask(entry)).toEqual(ok('reader'))
    expect(second.asked).toEqual(['writer entry', 'reader open', 'reader entry'])
  })

  it('starts no reader once it is closed', async () => {
    const { asked, ask, close } = createThreads()
    await ask(entry)
    await close()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(asked).toEqual(['writer entry'])
  })
})
