import { HoldfastError } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { appendTo } from '../../../../../testkit/src/contracts/store-fixture.ts'
import type { Database } from '../connect/connect.ts'
import { patienceIn } from '../connect/patience.ts'
import { postgresFault } from '../connect/postgres-fault.ts'
import { createAppendQueue } from './append-queue.ts'

const append = appendTo(1, 0)
const sessions = 64
// Only what the queue uses of a database.
const databaseOf = (write: (sql: string, values: readonly unknown[]) => Promise<readonly object[]>) =>
  ({ write }) as unknown as Database

it('rejects appends that the database did not answer, and goes on with the next', async () => {
  let calls = 0
  const database = databaseOf(async () => {
    calls++
    return calls === 1 ? [{ answers: [] }] : [{ answers: [null] }]
  })
  const queue = createAppendQueue(database, () => undefined, { patienceMs: 0 })
  await expect(queue.append(append)).rejects.toThrow('answers every append')
  expect(await queue.append(append)).toMatchObject({ ok: true })
})

it('rejects the group of an unexpected error, and goes on with the next', async () => {
  let calls = 0
  const database = databaseOf(async () => {
    calls++
    if (calls === 1) throw new TypeError('a bug')
    return [{ answers: [null] }]
  })
  const queue = createAppendQueue(database, () => undefined, { patienceMs: 0 })
  await expect(queue.append(append)).rejects.toThrow('a bug')
  expect(await queue.append(append)).toMatchObject({ ok: true })
  await queue.idle()
})

it('sends appends of many sessions at once in two statements: one that was free, and one for all that came meanwhile', async () => {
  const groups: number[] = []
  const database = databaseOf(async (_, [changes]) => {
    const count = (JSON.parse(String(changes)) as readonly unknown[]).length // as the queue sends it
    groups.push(count)
    return [{ answers: Array.from({ length: count }, () => null) }]
  })
  const queue = createAppendQueue(database, () => undefined, { patienceMs: 0 })
  const answers = await Promise.all(
    Array.from({ length: sessions }, (_, index) => queue.append(appendTo(index + 1, 0))),
  )
  expect(answers.every(({ ok }) => ok)).toBe(true)
  expect(groups.length).toBeLessThanOrEqual(2)
  expect(groups.reduce((sum, count) => sum + count, 0)).toBe(sessions)
})

it('sends a second group while the first is on its way, never two appends of one session, and in their order', async () => {
  const asked: { readonly sent: readonly string[]; readonly answer: () => void }[] = []
  const database = databaseOf((_, [changes]) => {
    // As the queue sends it.
    const batches = JSON.parse(String(changes)) as readonly { readonly session: string; readonly after: number }[]
    const { promise, resolve } = Promise.withResolvers<readonly object[]>()
    const sent = batches.map(({ session, after }) => `${session === append.session ? 'one' : 'other'} ${after}`)
    asked.push({ sent, answer: () => resolve([{ answers: batches.map(() => null) }]) })
    return promise
  })
  const queue = createAppendQueue(database, () => undefined, { patienceMs: 0 })
  const sent = () => asked.map((one) => one.sent)
  const appends = [queue.append(appendTo(1, 0)), queue.append(appendTo(1, 1))]
  await expect.poll(sent).toEqual([['one 0']])
  appends.push(queue.append(appendTo(2, 0)), queue.append(appendTo(2, 1)))
  await expect.poll(sent).toEqual([['one 0'], ['other 0']])
  asked[1]?.answer()
  await expect.poll(sent).toEqual([['one 0'], ['other 0'], ['other 1']])
  asked[0]?.answer()
  await expect.poll(sent).toEqual([['one 0'], ['other 0'], ['other 1'], ['one 1']])
  for (const { answer } of asked) answer()
  await queue.idle()
  expect((await Promise.all(appends)).every(({ ok }) => ok)).toBe(true)
})

it('sends two groups at once if there are more appends than one holds', async () => {
  const [counts, waiting]: [number[], (() => void)[]] = [[], []]
  const database = databaseOf((_, [changes]) => {
    const { length } = JSON.parse(String(changes)) as readonly unknown[] // as the queue sends it
    const { promise, resolve } = Promise.withResolvers<readonly object[]>()
    counts.push(length)
    waiting.push(() => resolve([{ answers: Array.from({ length }, () => null) }]))
    return promise
  })
  const queue = createAppendQueue(database, () => undefined, { patienceMs: 0 })
  const appends = Array.from({ length: 600 }, (_, index) => queue.append(appendTo(index + 1, 0)))
  await expect.poll(() => counts).toEqual([256, 256])
  for (const answer of waiting) answer()
  await expect.poll(() => counts).toEqual([256, 256, 88])
  waiting.at(-1)?.()
  expect((await Promise.all(appends)).every(({ ok }) => ok)).toBe(true)
})

/** A database that cannot be reached for some time, and a clock that only pauses move. */
function openAway(awayMs: number) {
  let nowMs = 0
  const asked: boolean[] = []
  const database = databaseOf(async (_, [, isRetry]) => {
    asked.push(Boolean(isRetry))
    if (nowMs < awayMs) throw new HoldfastError(postgresFault('db', 'unreachable'))
    return [{ answers: [null] }]
  })
  const pause = async (ms: number) => {
    nowMs += ms
  }
  const patience = { patienceMs: patienceIn(4000), pause, now: () => nowMs }
  return { queue: createAppendQueue(database, () => undefined, patience), asked, nowMs: () => nowMs }
}

it('waits for a database that refuses connections for less than two seconds', async () => {
  const { queue, asked } = openAway(1700)
  expect(await queue.append(append)).toMatchObject({ ok: true })
  // All but the first look for records that an earlier attempt may have written.
  expect(asked).toEqual([false, ...asked.slice(1).map(() => true)])
})

it('refuses an append after two seconds, and before half of a shorter term', async () => {
  const { queue, nowMs } = openAway(60_000)
  expect(await queue.append(append)).toMatchObject({ ok: false, fault: { details: { reason: 'unreachable' } } })
  expect(nowMs()).toBeGreaterThan(1700)
  expect(nowMs()).toBeLessThanOrEqual(2000)
  expect(patienceIn(1000)).toBe(500)
})
