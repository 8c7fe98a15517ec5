import { type Line, limits, MessageId, type PageRequest, refOf } from '@holdfast/protocol'
import { aSession, askedFor, callOf, type EventInput, recordsOf, settled, stepEnded, userSaid } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Log, ReadRecord } from '../../ports/store/log.ts'
import { readPage } from './read-page.ts'

/** Creates a log of these events, numbered from 1, with some damaged records. */
function logOf(given: readonly EventInput[], lost: readonly number[] = []): Pick<Log, 'read' | 'readRefs'> {
  const records = recordsOf(given).map(
    (record): ReadRecord => (lost.includes(record.seq) ? { seq: record.seq, lost: true } : record),
  )
  return {
    async read(_, { after, upTo = Number.POSITIVE_INFINITY, limit, newestFirst, types }) {
      const found = records.filter(
        (record) =>
          record.seq > after && record.seq <= upTo && ('lost' in record || !types || types.includes(record.event.type)),
      )
      return (newestFirst ? found.toReversed() : found).slice(0, limit)
    },
    readRefs: async (_, calls) =>
      records.filter((record) => !('lost' in record) && calls.some((call) => call === refOf(record.event))),
  }
}
const words = (count: number) => Array.from({ length: count }, (_, index) => userSaid(`word ${index + 1}`))
const whole: Line = [{ from: 1, to: null }]
const page = async (given: readonly EventInput[], request: PageRequest, line = whole, lost: readonly number[] = []) => {
  const found = await readPage(logOf(given, lost), aSession, line, given.length, request)
  return {
    ids: found.messages.map(({ id }) => id),
    parents: found.messages.map(({ parent }) => parent),
    before: found.before,
    after: found.after,
  }
}
const id = (seq: number) => MessageId.parse(seq)

describe('a page of the transcript', () => {
  /** Returns how many slices a page of messages of this size takes. */
  const slicesFor = async (count: number, chars: number) => {
    const large = Array.from({ length: count }, () => userSaid('x'.repeat(chars)))
    let [slices, isDone] = [0, false]
    const slice = () => {
      slices++
      if (!isDone) setImmediate(slice)
    }
    setImmediate(slice)
    await page(large, { limit: 500 })
    isDone = true
    return slices
  }

  it('is counted in several slices when it is large', async () => {
    const [few, many] = [await slicesFor(5, 100_000), await slicesFor(10, 100_000)]
    expect(few).toBeGreaterThanOrEqual(3)
    expect(many).toBeGreaterThanOrEqual(2 * few - 2)
  })

  it('takes another slice for each large message that must be encoded to know its size', async () => {
    // One for each when they are read, and one more when they are encoded, except those beyond the page.
    expect(await slicesFor(8, 200_000)).toBeGreaterThanOrEqual(8 + 4)
  })

  it('is the newest one, oldest message first, with the cursor of the page before', async () => {
    expect(await page(words(5), { limit: 2 })).toEqual({ ids: [4, 5], parents: [3, 4], before: 4, after: null })
  })

  it('that holds the whole line has no page before it', async () => {
    expect(await page(words(2), { limit: 2 })).toEqual({ ids: [1, 2], parents: [null, 1], before: null, after: null })
  })

  it('goes back from a message, and forward again', async () => {
    expect(await page(words(5), { limit: 2, before: id(4) })).toMatchObject({ ids: [2, 3], before: 2, after: 3 })
    expect(await page(words(5), { limit: 2, after: id(3) })).toEqual({
      ids: [4, 5],
      parents: [3, 4],
      before: 4,
      after: null,
    })
    expect(await page(words(5), { limit: 2, after: id(1) })).toMatchObject({ ids: [2, 3], before: 2, after: 3 })
  })

  it('is empty beyond both ends', async () => {
    expect(await page(words(3), { before: id(1) })).toMatchObject({ ids: [], before: null })
    expect(await page(words(3), { after: id(3) })).toMatchObject({ ids: [], after: null })
  })

  it.each([1, 2, 3, 7])(
    'sequence shows each message once, in both directions, with %i messages per page',
    async (limit) => {
      const back: number[] = []
      for (let before: MessageId | undefined; ; ) {
        const found = await page(words(7), { limit, before })
        back.unshift(...found.ids)
        if (found.before === null) break
        before = id(found.before)
      }
      const forward: number[] = []
      for (let after = id(0); ; ) {
        const found = await page(words(7), { limit, after })
        forward.push(...found.ids)
        if (found.after === null) break
        after = id(found.after)
      }
      expect([back, forward]).toEqual([
        [1, 2, 3, 4, 5, 6, 7],
        [1, 2, 3, 4, 5, 6, 7],
      ])
    },
  )

  it('contains only messages of its line, and parents skip the others', async () => {
    const line: Line = [
      { from: 1, to: 2 },
      { from: 6, to: null },
    ]
    expect(await page(words(7), {}, line)).toMatchObject({ ids: [1, 2, 6, 7], parents: [null, 1, 2, 6] })
    expect(await page(words(7), { limit: 2 }, line)).toMatchObject({ ids: [6, 7], parents: [2, 6], before: 6 })
  })

  it('includes the results of its calls, even if they were recorded long after the page', async () => {
    const given = [userSaid('go'), callOf('shell'), stepEnded, askedFor(2), ...words(6), settled(2, 'at last')]
    const { messages } = await readPage(logOf(given), aSession, whole, given.length, { after: id(0), limit: 2 })
    expect(messages[1]).toMatchObject({ kind: 'tool_call', call: { status: 'complete', result: { text: 'at last' } } })
  })

  it('is full even if records without a message lie between', async () => {
    const noise = Array.from({ length: 30 }, () => askedFor(1))
    expect(await page([userSaid('a'), ...noise, userSaid('b')], { limit: 2 })).toMatchObject({ ids: [1, 32] })
  })

  it('shows a notice at the position of a damaged record', async () => {
    expect(await page(words(5), { limit: 2 }, whole, [4])).toMatchObject({ ids: [4, 5], parents: [3, 4] })
    expect(await page(words(5), { limit: 2, after: id(2) }, whole, [3])).toMatchObject({ ids: [3, 4] })
  })

  describe('of large messages', () => {
    const large = 'x'.repeat(300_000)
    const given = Array.from({ length: 30 }, () => userSaid(large))
    const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

    it.each(['\u0001', '\n', 'x', 'é'])('has at most its bytes, also if JSON makes %j longer', async (char) => {
      const odd = Array.from({ length: 30 }, () => userSaid(char.repeat(100_000)))
      const { messages, before } = await readPage(logOf(odd), aSession, whole, odd.length, { limit: 30 })
      expect(bytesOf(messages)).toBeLessThan(limits.pageBytesMax + 1024)
      expect(bytesOf(messages) + bytesOf(messages[0])).toBeGreaterThan(limits.pageBytesMax)
      expect(before).toBe(messages[0]?.id)
    })

    it('sequence shows each message once, in both directions', async () => {
      const back: number[] = []
      for (let before: MessageId | undefined; ; ) {
        const found = await page(given, { before, limit: 500 })
        back.unshift(...found.ids)
        expect(found.parents).toEqual(found.ids.map((one) => (one === 1 ? null : one - 1)))
        if (found.before === null) break
        before = id(found.before)
      }
      const forward: number[] = []
      for (let after = id(0); ; ) {
        const found = await page(given, { after, limit: 500 })
        forward.push(...found.ids)
        if (found.after === null) break
        after = id(found.after)
      }
      const all = given.map((_, index) => index + 1)
      expect([back, forward]).toEqual([all, all])
    })

    it('is a single message, if that alone is larger', async () => {
      const huge = [userSaid('a'), userSaid('x'.repeat(limits.pageBytesMax)), userSaid('b')]
      expect(await page(huge, { before: id(3) })).toMatchObject({ ids: [2], before: 2 })
      expect(await page(huge, {})).toMatchObject({ ids: [3], before: 3 })
      expect(await page(huge, { before: id(2) })).toMatchObject({ ids: [1], before: null })
    })

    it('reads little more than it shows', async () => {
      let read = 0
      const log = logOf(given)
      const counted: typeof log = {
        ...log,
        async read(session, range) {
          const found = await log.read(session, { ...range, limit: Math.min(range.limit, 3) })
          read += found.length
          return found
        },
      }
      await readPage(counted, aSession, whole, given.length, { limit: 500 })
      expect(read).toBeLessThan(given.length / 2)
    })

    it('counts the outputs of its calls', async () => {
      const output = 'x'.repeat(limits.toolOutputInlineBytesMax)
      const calls = Array.from({ length: 400 }, () => callOf('shell'))
      const log = logOf([...calls, ...calls.map((_, index) => settled(index + 1, output))])
      const { messages, before } = await readPage(log, aSession, whole, 800, { limit: 500 })
      expect(bytesOf(messages)).toBeLessThan(limits.pageBytesMax + 1024)
      expect(before).toBe(messages[0]?.id)
    })
  })
})
