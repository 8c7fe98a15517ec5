import { globSync, readFileSync } from 'node:fs'
import { createLiveView } from '@holdfast/client'
import { type Folded, fold } from '@holdfast/core'
import {
  type Frame,
  fault,
  Message,
  type Meta,
  ok,
  Recorded,
  refOf,
  refuse,
  type SessionHandle,
  SessionId,
  SessionView,
} from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createSessionReader } from '../../packages/core/src/runtime/api/session-reader.ts'

/** What the golden logs do not show: a fallback, collapsed calls, interrupted thinking, tasks. */
const more = [
  {
    type: 'session.started',
    handle: 'calm-harbor-12',
    workdir: '/work',
    readOnly: true,
    settings: { model: 'sim/model', thinkingLevel: 'off', mode: 'exec', budgets: {} },
  },
  { type: 'turn.started', turn: 0, cause: 'prompt' },
  { type: 'step.started', turn: 0, model: 'sim/model', thinkingLevel: 'off', attempt: 1 },
  { type: 'thinking.said', turn: 0, step: 3, text: 'hm', provider: 'sim', interrupted: true },
  { type: 'step.ended', turn: 0, step: 3, finish: 'failed', usage: null, fallback: 'sim/other' },
  { type: 'message.collapsed', message: null, collapsed: true },
  { type: 'step.started', turn: 0, model: 'sim/other', thinkingLevel: 'off', attempt: 1 },
  { type: 'call.requested', turn: 0, step: 7, tool: 'shell', args: {}, provider: 'sim' },
  { type: 'call.approved', call: 8, argsHash: 'a'.repeat(64), by: { rule: 'not destructive' }, scope: 'once' },
  { type: 'call.started', call: 8 },
  {
    type: 'call.settled',
    call: 8,
    outcome: { type: 'ok', output: { text: 'one task' } },
    durationMs: 1,
    todos: [{ id: '1', description: 'read', status: 'pending' }],
  },
  { type: 'settings.changed', serversOff: ['files'] },
  { type: 'turn.ended', turn: 0, reason: 'aborted' },
].map((event, index) => Recorded.parse({ seq: index + 1, at: '2026-01-02T03:04:05.678Z', v: 1, event }))

/** The catalogue computes it; a live client keeps what it was given. */
const notFollowed: readonly string[] = ['recentText'] satisfies readonly (keyof Meta)[]

const recordsOf = (path: string): readonly Recorded[] =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => Recorded.parse(JSON.parse(line)))

/** Golden logs contain every event. A fork is left out: its older records are in another log. */
const logs = new Map([
  ...globSync('test/golden/*.jsonl')
    .filter((path) => !path.includes('fork'))
    .map((path) => [path, recordsOf(path)] as const),
  ['more events', more] as const,
])
const id = SessionId.parse('ses_01k9xyzabcdefghjkmnpqrstvw')

type Screen = { readonly view: SessionView; readonly meta: Meta; readonly messages: readonly Message[] }

/** Returns what a client gets that loads the session after `count` records. */
async function reload(records: readonly Recorded[], count: number) {
  const known = records.slice(0, count)
  const folded = known.reduce<Folded | null>((sum, record) => fold(sum, id, record), null)
  const reader = createSessionReader({
    id,
    log: {
      async read(_, { after, upTo = Number.POSITIVE_INFINITY, limit, newestFirst, types }) {
        const found = known.filter(
          ({ seq, event }) => seq > after && seq <= upTo && (!types || types.includes(event.type)),
        )
        return (newestFirst ? found.toReversed() : found).slice(0, limit)
      },
      readRefs: async (_, calls) => known.filter(({ event }) => calls.some((call) => call === refOf(event))),
    },
    folded: async () => (folded ? ok(folded) : refuse(fault('session_not_found', 'There is no session.'))),
    completeMeta: (meta) => meta,
    workspaceTrust: async () => [],
    here: () => null,
  })
  const snapshot = await reader.snapshot()
  if (!snapshot.ok) throw new Error(snapshot.fault.message)
  return snapshot.value
}

/** Follows a log record by record as a live client, and returns both screens after each record. */
async function follow(records: readonly Recorded[]) {
  let count = 1
  let drawn = Promise.withResolvers<void>()
  const handle: Pick<SessionHandle, 'id' | 'snapshot' | 'subscribe'> = {
    id,
    snapshot: async () => ok(await reload(records, count)),
    async *subscribe(): AsyncGenerator<Frame> {
      yield await reload(records, 1)
      for (const record of records.slice(1)) {
        await drawn.promise
        drawn = Promise.withResolvers()
        count++
        yield { type: 'record', sessionId: id, record }
      }
      await drawn.promise
    },
  }
  const screens: { type: string; live: Screen; reloaded: Screen }[] = []
  const live = createLiveView(handle as SessionHandle) // the view asks for nothing else here
  for (const { event } of records) {
    if (live.seq < (records[screens.length]?.seq ?? 0)) {
      const changed = Promise.withResolvers<void>()
      const stop = live.subscribe(() => changed.resolve())
      if (screens.length > 0) drawn.resolve()
      await changed.promise
      stop()
    }
    const { view, meta, messages } = await reload(records, count)
    if (!live.view || !live.meta) throw new Error('the live view has no snapshot')
    screens.push({
      type: event.type,
      live: { view: live.view, meta: live.meta, messages: [...live.messages] },
      reloaded: { view, meta, messages },
    })
  }
  drawn.resolve()
  live.close()
  return screens
}

const all = new Map(await Promise.all([...logs].map(async ([name, records]) => [name, await follow(records)] as const)))
const withoutUnfollowed = (meta: Meta) =>
  Object.fromEntries(Object.entries(meta).filter(([field]) => !notFollowed.includes(field)))

describe.each([...logs.keys()])('%s', (name) => {
  it('shows the same live and after a reload, after every record', () => {
    for (const { type, live, reloaded } of all.get(name) ?? []) {
      expect(live.view, type).toEqual(reloaded.view)
      expect(live.messages, type).toEqual(reloaded.messages)
      expect(withoutUnfollowed(live.meta), type).toEqual(withoutUnfollowed(reloaded.meta))
    }
  })
})

describe('these logs', () => {
  const screens = [...all.values()].flat()
  const valuesOf = (pick: (screen: Screen) => unknown) =>
    new Set(screens.map(({ reloaded }) => JSON.stringify(pick(reloaded)) ?? 'absent'))

  it.each(Object.keys(SessionView.shape) as (keyof SessionView)[])('change SessionView.%s', (field) => {
    expect(valuesOf(({ view }) => view[field]).size).toBeGreaterThan(1)
  })

  it.each(
    Message.options.flatMap(({ shape }) => Object.keys(shape).map((field) => [shape.kind.value, field] as const)),
  )('contain a message of kind %s with %s', (kind, field) => {
    const messages = screens.flatMap(({ reloaded }) => reloaded.messages).filter((message) => message.kind === kind)
    expect(messages.filter((message) => Reflect.get(message, field) !== undefined)).not.toEqual([])
  })
})
