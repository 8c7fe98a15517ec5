import { describe, expect, it } from 'vitest'
import {
  appendTo,
  clientId,
  codeOf,
  commandId,
  entryOf,
  mustAppend,
  mustCreate,
  newSession,
  type OpenStore,
  readAll,
  recordAt,
  seqsOf,
  sessionId,
  textSaid,
  textsAfter,
  useStore,
} from './store-fixture.ts'

/** Describes appending: in order, atomic, only by the owner, and each command once. */
export function describeLog(open: OpenStore): void {
  const store = useStore(open)

  describe('append', () => {
    it('numbers a session densely from one', async () => {
      await mustCreate(store(), newSession(1, { records: textsAfter(0, 'a', 'b') }))
      await mustAppend(store(), appendTo(1, 2, { records: textsAfter(2, 'c') }))
      expect(seqsOf(await readAll(store(), 1))).toEqual([1, 2, 3])
    })

    it('returns exactly what was appended', async () => {
      const event = textSaid('line one\nline two \u{1F40B} \u0000 "quoted" \ud800')
      const full = recordAt(2, event, { by: clientId('tui'), commandId: commandId('cmd-1') })
      await mustCreate(store(), newSession(1))
      await mustAppend(store(), appendTo(1, 1, { records: [full, recordAt(3, textSaid('plain'))] }))
      const [, second, third] = await readAll(store(), 1)
      expect(second).toStrictEqual(full.record)
      expect(third).toStrictEqual(recordAt(3, textSaid('plain')).record)
    })

    it('refuses an append based on an old view, and stores nothing of it', async () => {
      await mustCreate(store(), newSession(1))
      await mustAppend(store(), appendTo(1, 1))
      const late = await store().append(appendTo(1, 1, { records: textsAfter(1, 'x', 'y', 'z') }))
      expect(late).toMatchObject({ ok: false, fault: { code: 'log_moved', details: { expected: 1, actual: 2 } } })
      expect(seqsOf(await readAll(store(), 1))).toEqual([1, 2])
    })

    it('refuses an append ahead of the head', async () => {
      await mustCreate(store(), newSession(1))
      expect(codeOf(await store().append(appendTo(1, 5)))).toBe('log_moved')
      expect(seqsOf(await readAll(store(), 1))).toEqual([1])
    })

    it('refuses an append at another epoch, even with the right head', async () => {
      await mustCreate(store(), newSession(1))
      expect(codeOf(await store().append(appendTo(1, 1, { epoch: 2 })))).toBe('fenced')
      expect(codeOf(await store().append(appendTo(1, 9, { epoch: 0 })))).toBe('fenced')
      expect(seqsOf(await readAll(store(), 1))).toEqual([1])
    })

    it('refuses an append to a missing session', async () => {
      expect(codeOf(await store().append(appendTo(9, 0)))).toBe('session_not_found')
    })

    it('accepts one of two appends that race for the same seq', async () => {
      await mustCreate(store(), newSession(1))
      const results = await Promise.all([1, 2, 3].map(() => store().append(appendTo(1, 1))))
      expect(results.map(codeOf).toSorted()).toEqual(['log_moved', 'log_moved', 'ok'])
      expect(seqsOf(await readAll(store(), 1))).toEqual([1, 2])
    })

    it('commits the rest of a group when one append is refused', async () => {
      const numbers = Array.from({ length: 24 }, (_, index) => index + 1)
      await mustCreate(store(), ...numbers.map((number) => newSession(number)))
      const stale = appendTo(3, 0)
      const fenced = appendTo(4, 1, { epoch: 7 })
      const unknown = appendTo(99, 1)
      const results = await Promise.all(
        numbers.flatMap((number) => [
          store().append(number % 3 === 0 ? { ...stale, session: sessionId(number) } : appendTo(number, 1)),
          store().append(fenced),
          store().append(unknown),
        ]),
      )
      const expected = numbers.flatMap((number) => [
        number % 3 === 0 ? 'log_moved' : 'ok',
        'fenced',
        'session_not_found',
      ])
      expect(results.map(codeOf)).toEqual(expected)
      const heads = await Promise.all(numbers.map(async (number) => (await store().entry(sessionId(number)))?.head))
      expect(heads).toEqual(numbers.map((number) => (number % 3 === 0 ? 1 : 2)))
    })

    it('keeps pipelined appends of one session in order', async () => {
      await mustCreate(store(), newSession(1))
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, index) => store().append(appendTo(1, index + 1))),
      )
      expect(results.every(({ ok }) => ok)).toBe(true)
      expect((await readAll(store(), 1)).length).toBe(51)
    })

    it('updates only the catalogue when there is nothing to record', async () => {
      await mustCreate(store(), newSession(1))
      await mustAppend(store(), appendTo(1, 1, { records: [], entry: entryOf(1, { meta: { title: 'Renamed' } }) }))
      expect(await store().entry(sessionId(1))).toMatchObject({ head: 1, entry: { meta: { title: 'Renamed' } } })
    })
  })

  describe('commands', () => {
    const once = (after: number, name: string) =>
      appendTo(1, after, {
        records: [
          recordAt(after + 1, textSaid(name), { commandId: commandId(name) }),
          recordAt(after + 2, textSaid('more')),
        ],
      })

    it('admits a command once, and returns its seq', async () => {
      await mustCreate(store(), newSession(1))
      await mustAppend(store(), once(1, 'cmd-a'))
      const again = await store().append(once(3, 'cmd-a'))
      expect(again).toMatchObject({ ok: false, fault: { code: 'command_seen', details: { seq: 2 } } })
      expect(seqsOf(await readAll(store(), 1))).toEqual([1, 2, 3])
    })

    it('reports a duplicate to a retry from an old view', async () => {
      await mustCreate(store(), newSession(1))
      await mustAppend(store(), once(1, 'cmd-a'))
      expect(codeOf(await store().append(once(1, 'cmd-a')))).toBe('command_seen')
    })

    it('admits the same id in another session', async () => {
      await mustCreate(store(), newSession(1), newSession(2))
      await mustAppend(store(), once(1, 'cmd-a'))
      await mustAppend(store(), { ...once(1, 'cmd-a'), session: sessionId(2), entry: entryOf(2) })
    })

    it('admits a command again after a refusal', async () => {
      await mustCreate(store(), newSession(1))
      expect(codeOf(await store().append(once(7, 'cmd-a')))).toBe('log_moved')
      await mustAppend(store(), once(1, 'cmd-a'))
    })

    it('finds the first record of a command, and null for an unknown one', async () => {
      await mustCreate(store(), newSession(1))
      await mustAppend(store(), once(1, 'cmd-a'))
      expect(await store().findCommand(sessionId(1), commandId('cmd-a'))).toMatchObject({
        seq: 2,
        commandId: 'cmd-a',
        event: { text: 'cmd-a' },
      })
      expect(await store().findCommand(sessionId(1), commandId('cmd-b'))).toBeNull()
      expect(await store().findCommand(sessionId(9), commandId('cmd-a'))).toBeNull()
    })

    it('stores the hash of a command, if it is given, once', async () => {
      const named = (seq: number, text: string) => [recordAt(seq, textSaid(text), { commandId: commandId(text) })]
      const hashOf = (text: string) => store().commandHash(sessionId(1), commandId(text))
      await mustCreate(store(), newSession(1), newSession(2))
      await mustAppend(store(), appendTo(1, 1, { records: named(2, 'cmd-a'), commandHash: 'hash-a' }))
      await mustAppend(store(), appendTo(1, 2, { records: named(3, 'cmd-b') }))
      await store().append(appendTo(1, 3, { records: named(4, 'cmd-a'), commandHash: 'other' }))
      expect([await hashOf('cmd-a'), await hashOf('cmd-b'), await hashOf('cmd-c')]).toEqual(['hash-a', null, null])
      expect(await store().commandHash(sessionId(2), commandId('cmd-a'))).toBeNull()
    })
  })
}
