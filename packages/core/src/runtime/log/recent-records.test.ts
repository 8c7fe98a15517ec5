import type { Recorded } from '@holdfast/protocol'
import { aSession, recordsOf, started, userSaid } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import type { EncodedRecord } from '../../ports/store/log.ts'
import { createRecentRecords, NotHeld } from './recent-records.ts'

const encode = (records: readonly Recorded[]): readonly EncodedRecord[] =>
  records.map((record) => ({ record, body: JSON.stringify(record.event) }))
const saidFrom = (seq: number, ...texts: readonly string[]) => encode(recordsOf(texts.map(userSaid), seq))
const all = { after: 0, limit: 100 }

it('reads records that were added and those that are being written as a store would', async () => {
  const recent = createRecentRecords()
  recent.begin(aSession)
  recent.add(aSession, saidFrom(2, 'one', 'two'))
  const writing = saidFrom(4, 'three')
  const log = recent.logOf(aSession, writing)
  const expected = [...recordsOf(['one', 'two', 'three'].map(userSaid), 2)]
  expect(await log?.read(aSession, { ...all, types: ['user.said'] })).toEqual(expected)
  expect(await log?.read(aSession, { ...all, newestFirst: true, limit: 1 })).toEqual(expected.slice(-1))
  recent.add(aSession, writing) // durable by now
  expect(await recent.logOf(aSession, writing)?.read(aSession, all)).toEqual(expected)
  await expect(log?.readRefs(aSession, [2])).rejects.toThrow(NotHeld)
})

it.each([
  ['that come before those it has', { after: 2, upTo: 5, limit: 9 }],
  ['that come after', { after: 4, upTo: 9, limit: 9 }],
])('throws for records %s', async (_, range) => {
  const recent = createRecentRecords()
  recent.add(aSession, saidFrom(4, 'four', 'five'))
  await expect(recent.logOf(aSession, [])?.read(aSession, range)).rejects.toThrow(NotHeld)
})

it('leaves no gap where another process has written', async () => {
  const recent = createRecentRecords()
  recent.begin(aSession)
  recent.add(aSession, saidFrom(2, 'two'))
  await expect(recent.logOf(aSession, saidFrom(5, 'five'))?.read(aSession, all)).rejects.toThrow(NotHeld)
  recent.add(aSession, saidFrom(5, 'five'))
  await expect(recent.logOf(aSession, [])?.read(aSession, all)).rejects.toThrow(NotHeld)
  expect(await recent.logOf(aSession, [])?.read(aSession, { ...all, after: 4 })).toHaveLength(1)
})

it('holds the newest records of a session, and of the sessions that were used last', async () => {
  const recent = createRecentRecords(100_000)
  recent.add(aSession, encode(recordsOf([started])))
  const long = 'x'.repeat(40_000)
  recent.add(aSession, saidFrom(2, long, long))
  await expect(recent.logOf(aSession, [])?.read(aSession, all)).rejects.toThrow(NotHeld)
  expect(await recent.logOf(aSession, [])?.read(aSession, { ...all, after: 2 })).toHaveLength(1)
  const other = `${aSession.slice(0, -1)}x` as typeof aSession // another id of the same shape
  recent.add(other, saidFrom(2, long))
  expect(recent.logOf(aSession, [])).not.toBeNull()
  recent.add(other, saidFrom(3, 'y'.repeat(30_000)))
  recent.add(other, saidFrom(4, 'z'.repeat(34_000)))
  expect(recent.logOf(aSession, [])).toBeNull()
})
