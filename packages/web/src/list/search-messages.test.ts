import {
  type FoundMessages,
  fault,
  type ListOptions,
  MessageId,
  type Meta,
  ok,
  refuse,
  type SearchOptions,
  SessionId,
  type Sessions,
} from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { noFilter } from './list-filter.ts'
import { createMessageSearch } from './search-messages.ts'

const idOf = (number: number) => SessionId.parse(`ses_${String(number).padStart(26, '0')}`)
type Hit = FoundMessages['hits'][number]

/** A server with a hit in each session, in pages of ten. Every third session runs; the list tells of the first `listed`. */
function server(count: number, listed = count) {
  const asked = { list: 0, open: 0, searches: [] as SearchOptions[] }
  // Only the fields that are read.
  const metaOf = (number: number) =>
    ({ id: idOf(number), messageCount: 1, model: 'a/b', status: number % 3 === 0 ? 'thinking' : 'idle' }) as Meta
  const numbers = Array.from({ length: count }, (_, index) => index)
  const hitOf = (number: number) => ({ sessionId: idOf(number), messageId: MessageId.parse(1) }) as Hit
  const sessions = {
    search: async (options: SearchOptions) => {
      asked.searches.push(options)
      const from = Number(options.cursor ?? 0)
      const next = from + 10 < count ? String(from + 10) : null
      return ok({ hits: numbers.slice(from, from + 10).map(hitOf), next })
    },
    list: async ({ running }: ListOptions) => {
      asked.list++
      const fitting = numbers.map(metaOf).filter(({ status }) => !running || status !== 'idle')
      return ok({ sessions: fitting.slice(0, listed), next: listed < fitting.length ? 'more' : null })
    },
    open: async (name: string) => {
      asked.open++
      return ok({ state: async () => ok({ meta: metaOf(Number(name.slice(4))) }) })
    },
  }
  return { sessions: sessions as unknown as Sessions, asked }
}

const foundIn = (answer: Awaited<ReturnType<ReturnType<typeof createMessageSearch>>>) =>
  answer.ok ? answer.value.hits.map(({ sessionId }) => Number(sessionId.slice(4))) : answer

describe('a search for messages', () => {
  it('asks for nothing else without a filter, and passes the workspace on', async () => {
    const { sessions, asked } = server(5)
    const search = createMessageSearch(sessions, { ...noFilter, search: ' lamp ', workspace: '/work' })
    expect(foundIn(await search(null))).toEqual([0, 1, 2, 3, 4])
    expect(asked).toMatchObject({ list: 0, open: 0, searches: [{ text: 'lamp*', workspace: '/work' }] })
  })

  it('finds messages of listed sessions only, and reads on while they are few', async () => {
    const { sessions, asked } = server(25)
    const search = createMessageSearch(sessions, { ...noFilter, search: 'lamp', isRunning: true })
    expect(foundIn(await search(null))).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24])
    expect(asked).toMatchObject({ list: 1, open: 0 })
    expect(asked.searches.map(({ cursor }) => cursor)).toEqual([undefined, '10', '20'])
  })

  it('asks for each session that a cut list does not tell of, once', async () => {
    const { sessions, asked } = server(12, 2)
    const search = createMessageSearch(sessions, { ...noFilter, search: 'lamp', isRunning: true })
    expect(foundIn(await search(null))).toEqual([0, 3, 6, 9])
    expect(foundIn(await search(null))).toEqual([0, 3, 6, 9])
    expect(asked).toMatchObject({ list: 1, open: 10 })
  })

  it('returns why it was refused', async () => {
    const { sessions } = server(1)
    const why = refuse(fault('bad_request', 'No such word.'))
    const search = createMessageSearch({ ...sessions, search: async () => why }, { ...noFilter, search: 'lamp' })
    expect(await search(null)).toEqual(why)
  })
})
