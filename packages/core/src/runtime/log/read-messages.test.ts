import { type Line, limits, type Message, MessageId, refOf } from '@holdfast/protocol'
import { aSession, callOf, type EventInput, recordsOf, settled, stepEnded, userSaid } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Log, ReadRecord } from '../../ports/store/log.ts'
import { readMessages } from './read-messages.ts'
import { readPage } from './read-page.ts'

/** Creates a log of these events, numbered from 1, with some damaged records. It counts the calls it is asked about. */
function logOf(given: readonly EventInput[], lost: readonly number[] = []) {
  const records = recordsOf(given).map(
    (record): ReadRecord => (lost.includes(record.seq) ? { seq: record.seq, lost: true } : record),
  )
  const callsAsked: number[] = []
  const log: Pick<Log, 'read' | 'readRefs'> = {
    async read(_, { after, upTo = Number.POSITIVE_INFINITY, limit, newestFirst, types }) {
      const found = records.filter(
        (record) =>
          record.seq > after && record.seq <= upTo && ('lost' in record || !types || types.includes(record.event.type)),
      )
      return (newestFirst ? found.toReversed() : found).slice(0, limit)
    },
    async readRefs(_, calls) {
      callsAsked.push(calls.length)
      return records.filter((record) => !('lost' in record) && calls.some((call) => call === refOf(record.event)))
    },
  }
  return { log, callsAsked }
}

const words = (count: number) => Array.from({ length: count }, (_, index) => userSaid(`word ${index + 1}`))

async function both(given: readonly EventInput[], line: Line = [{ from: 1, to: null }], lost: readonly number[] = []) {
  const { log, callsAsked } = logOf(given, lost)
  const all: Message[] = []
  for await (const messages of readMessages(log, aSession, line, given.length)) all.push(...messages)
  const request = { after: MessageId.parse(0), limit: 500 }
  const asPage = await readPage(logOf(given, lost).log, aSession, line, given.length, request)
  return { all, asPage: asPage.messages, callsAsked }
}

describe('all messages of a line', () => {
  it('are those of its pages', async () => {
    const { all, asPage } = await both(words(300))
    expect(all).toHaveLength(300)
    expect(all).toEqual(asPage)
  })

  it('skip what is not on the line, and name the parent across a gap', async () => {
    const line: Line = [
      { from: 1, to: 2 },
      { from: 6, to: null },
    ]
    const { all, asPage } = await both(words(7), line)
    expect(all.map(({ id, parent }) => [id, parent])).toEqual([
      [1, null],
      [2, 1],
      [6, 2],
      [7, 6],
    ])
    expect(all).toEqual(asPage)
  })

  it('are read in several parts at a time, the first ones short, so that the store reads while this thread decodes', async () => {
    const given = words(3 * limits.pageRecordsMax + 1)
    const { log } = logOf(given)
    const asked: (readonly [after: number, upTo: number | undefined])[] = []
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const slow: typeof log = {
      ...log,
      async read(id, range) {
        asked.push([range.after, range.upTo])
        await released
        return log.read(id, range)
      },
    }
    const lists = readMessages(slow, aSession, [{ from: 1, to: null }], given.length)
    const first = lists.next()
    expect(asked).toEqual([
      [0, 128],
      [128, 384],
      [384, 896],
    ])
    release()
    let count = (await first).value?.length ?? 0
    for await (const messages of lists) count += messages.length
    expect(count).toBe(given.length)
    expect(asked.slice(3)).toEqual([
      [896, 896 + limits.pageRecordsMax],
      [1896, 1896 + limits.pageRecordsMax],
      [2896, given.length],
    ])
  })

  it('have a notice in place of a damaged record', async () => {
    const { all, asPage } = await both(words(3), undefined, [2])
    expect(all[1]).toMatchObject({ kind: 'notice', code: 'lost' })
    expect(all).toEqual(asPage)
  })

  it('have the results of their calls, which are read a few calls at a time', async () => {
    const calls = Array.from({ length: 70 }, () => callOf('shell'))
    const given = [userSaid('go'), ...calls, stepEnded, ...calls.map((_, index) => settled(index + 2, 'done'))]
    const { all, asPage, callsAsked } = await both(given)
    expect(all.filter((message) => message.kind === 'tool_call' && message.call.status === 'complete')).toHaveLength(70)
    expect(all).toEqual(asPage)
    expect(callsAsked).toEqual([32, 32, 6])
  })
})
