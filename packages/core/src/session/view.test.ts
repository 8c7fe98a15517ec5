import { addToMeta, addToView, limits, Meta, noUsage, type Recorded } from '@holdfast/protocol'
import {
  aHash,
  aLineMove,
  anInstant,
  approvedBy,
  aSession,
  askedFor,
  callOf,
  type EventInput,
  queued,
  recordsOf,
  requested,
  settled,
  started,
  stateAfter,
  stepEnded,
  thinking,
  turnEnded,
  userSaid,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { type Folded, fold } from '../runtime/log/load-session.ts'
import { evolve } from './evolve.ts'
import { emptySession } from './state.ts'
import { viewOf } from './view.ts'

const view = (...given: readonly EventInput[]) => viewOf(stateAfter(...given))
/** A turn whose first model could not answer. */
const fallen = (turn: number, fallback: string): readonly EventInput[] => [
  { type: 'turn.started', turn, cause: 'prompt' },
  { type: 'step.started', turn, model: 'other/model', thinkingLevel: 'off', attempt: 1 },
  { type: 'step.ended', turn, step: 99, finish: 'failed', usage: null, fallback },
]
const words = [{ type: 'text' as const, text: 'wait' }]

describe('the view', () => {
  it('is thinking in a turn and idle after it', () => {
    expect(view()).toMatchObject({ status: 'idle', activity: 'idle', lastTurn: null })
    expect(view(...thinking)).toMatchObject({ status: 'thinking', step: 4 })
    expect(view(...thinking, turnEnded('done'))).toMatchObject({
      status: 'idle',
      step: null,
      lastTurn: { reason: 'done' },
    })
  })

  it('is executing tools while calls are open', () => {
    expect(view(...requested)).toMatchObject({ status: 'tool_executing', activeToolCalls: [{ id: 5, tool: 'shell' }] })
    expect(view(...requested, settled(5))).toMatchObject({ status: 'thinking', activeToolCalls: [] })
  })

  it('shows an error after a failed turn, until the next prompt', () => {
    expect(view(...thinking, turnEnded('failed')).status).toBe('error')
    expect(view(...thinking, turnEnded('failed'), { type: 'turn.started', turn: 1, cause: 'prompt' }).status).toBe(
      'thinking',
    )
  })

  it('shows plan while idle in plan mode', () => {
    expect(view({ type: 'settings.changed', mode: 'plan' }).status).toBe('plan')
    expect(view({ type: 'settings.changed', mode: 'plan' }, ...thinking).status).toBe('thinking')
  })

  it('shows open questions in the order of their calls', () => {
    const two = [...thinking, callOf('shell'), callOf('shell'), stepEnded, askedFor(6), askedFor(5)]
    expect(view(...two).pendingApprovals.map(({ call }) => call)).toEqual([5, 6])
    expect(view(...two, approvedBy(6)).pendingApprovals.map(({ call }) => call)).toEqual([5])
  })

  it('is the same folded from records and followed live', () => {
    const rounds = [
      ...thinking,
      queued('steering'),
      callOf('shell'),
      callOf('shell'),
      stepEnded,
      askedFor(7),
      askedFor(6),
      approvedBy(6),
    ]
    const log = recordsOf([
      started,
      ...rounds,
      { type: 'call.started', call: 6 },
      settled(6),
      settled(7),
      { type: 'user.said', turn: 0, content: words, entry: 5 },
      ...[queued('steering', 'a'), queued('follow_up', 'b'), queued('steering', 'c'), queued('steering', 'd')],
      { type: 'queue.reordered', queue: 'steering', entries: [19, 16, 18] },
      { type: 'queue.edited', entry: 17, content: words },
      { type: 'queue.removed', entries: [{ id: 16, queue: 'steering', content: words }], recalled: true },
      { type: 'trust.granted', tool: 'shell', scope: 'turn', argsHash: aHash },
      { type: 'trust.granted', tool: 'touch', scope: 'session' },
      { type: 'trust.granted', tool: 'touch', scope: 'session' },
      { type: 'trust.granted', tool: 'look', scope: 'workspace' },
      { type: 'trust.revoked', tool: 'touch' },
      turnEnded('failed'),
      { type: 'trust.revoked', tool: null },
      { type: 'message.pinned', message: 3, pinned: true },
      { type: 'settings.changed', mode: 'plan', model: 'other/model' },
      ...fallen(1, 'third/model'),
      turnEnded('failed'),
      ...fallen(2, 'third/model'),
      { type: 'settings.changed', model: 'fourth/model' },
      ...fallen(3, 'fourth/model'),
    ])
    let state = emptySession()
    let followed = viewOf(state)
    for (const record of log) {
      state = evolve(state, record)
      followed = addToView(followed, record)
      expect(followed, `after ${record.seq} ${record.event.type}`).toEqual(viewOf(state))
    }
  })
})

const rowAfter = (...given: readonly EventInput[]) => rowOf(started, ...given)
/** Returns the row of a session that was started with these fields. */
const startedWith = (fields: object) => rowOf({ ...started, ...fields } as EventInput)

const rowOf = (...events: readonly EventInput[]) => {
  const folded = recordsOf(events).reduce<Folded | null>((sum, record: Recorded) => fold(sum, aSession, record), null)
  if (!folded) throw new Error('a log begins')
  Meta.parse(folded.row.entry.meta)
  return folded.row.entry
}
const usageOf = (cost: number | null): EventInput =>
  ({ ...stepEnded, usage: { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, cost } }) as EventInput
const answered = (text: string): EventInput => ({ type: 'text.said', turn: 0, step: 4, text, provider: 'sim' })

describe('a session in the catalogue', () => {
  it('is unlisted and may be removed while it has nothing but a plain start', () => {
    expect(rowAfter().spoken).toBe(false)
    const commands: readonly EventInput[] = [
      { type: 'settings.changed', pinned: true },
      { type: 'settings.changed', title: 'Mine' },
      { type: 'settings.changed', mode: 'plan' },
      { type: 'note.added', turn: 0, kind: 'system', level: 'info', text: 'A word.' },
      { type: 'client.said', event: { eventId: 'one', type: 'cursor' } },
      { type: 'trust.granted', tool: 'shell', scope: 'session' },
    ]
    for (const command of commands) expect(rowAfter(command).spoken, command.type).toBe(true)
    expect(rowAfter(...thinking).spoken).toBe(true)
  })

  it('is listed from its start if it was given a key, a title or a parent', () => {
    const settings = { model: 'sim/model', thinkingLevel: 'off', mode: 'exec', budgets: {}, title: 'Mine' }
    expect(startedWith({}).spoken).toBe(false)
    expect(startedWith({ key: 'bot:1' }).spoken).toBe(true)
    expect(startedWith({ parent: aSession }).spoken).toBe(true)
    expect(startedWith({ settings }).spoken).toBe(true)
  })

  it('shows the recent text of the line it moved to, and none of the line it has left', () => {
    const left = [...thinking, answered('Hello.'), turnEnded('done')]
    expect(rowAfter(...left).meta.recentText).toContain('Hello.')
    expect(rowAfter(...left, aLineMove()).meta.recentText).toBe('')
    const moved = { ...aLineMove(), shown: { recent: ['one', 'two'] } } as EventInput
    expect(rowAfter(...left, moved).meta).toMatchObject({ recentText: 'one\ntwo', preview: 'list the files' })
  })

  it('shows the first prompt of the line it moved to, also as the title if nobody gave one', () => {
    const moved = { ...aLineMove(), shown: { preview: 'other', recent: [] } } as EventInput
    const left = [...thinking, turnEnded('done')]
    expect(rowAfter(...left, moved).meta).toMatchObject({ title: 'other', preview: 'other' })
    const named: EventInput = { type: 'settings.changed', title: 'Mine' }
    expect(rowAfter(...left, named, moved).meta).toMatchObject({ title: 'Mine', preview: 'other' })
  })

  it('is titled by the first line of its first prompt, until it is named', () => {
    const [begin, , step] = thinking
    if (!begin || !step) throw new Error('given')
    const prompted = [begin, userSaid(`\n Fix ${'x'.repeat(200)}\nplease`), step]
    expect(rowAfter(...prompted).meta.title).toMatch(/^Fix x{76}$/)
    expect(rowAfter(...prompted, userSaid('another')).meta.title).toMatch(/^Fix x{76}$/)
    const named = [...prompted, { type: 'settings.changed', title: 'Mine' }] as const
    expect(rowAfter(...named).meta.title).toBe('Mine')
    const unnamed = [...named, { type: 'settings.changed', title: '' }] as const
    expect(rowAfter(...unnamed).meta.title).toMatch(/^Fix x{76}$/)
    expect(rowAfter({ type: 'settings.changed', title: '' }, ...prompted).meta.title).toMatch(/^Fix x{76}$/)
  })

  it('has the pinned state, and the workdir after a move', () => {
    const pinned = [...thinking, { type: 'settings.changed', pinned: true }] as const
    expect(rowAfter(...pinned).meta).toMatchObject({ pinned: true, workspace: '/work' })
    const moved = [...pinned, { type: 'settings.changed', workdir: '/moved' }] as const
    expect(rowAfter(...moved).meta).toMatchObject({ pinned: true, workspace: '/moved' })
    expect(rowAfter(...moved, { type: 'settings.changed', pinned: false }).meta.pinned).toBe(false)
    expect(rowAfter(...moved).activeAt).toBe(rowAfter(...thinking).activeAt)
  })

  it('has a bounded preview of its beginning and of its end', () => {
    const many = Array.from({ length: 20 }, (_, index) => answered(`answer ${index} ${'y'.repeat(60)}`))
    const { meta } = rowAfter(...thinking, ...many)
    expect(meta.preview).toBe('list the files')
    expect(meta.recentText.length).toBeLessThanOrEqual(limits.recentTextCharsMax)
    expect(meta.recentText).toMatch(/answer 18 y+\nanswer 19 y+$/)
    expect(rowAfter(...thinking, answered('z'.repeat(9999))).meta.recentText).toHaveLength(limits.recentTextCharsMax)
  })

  it('has the times of its start and last message, its workdir and its model', () => {
    const { meta, activeAt } = rowAfter(...thinking)
    expect(meta).toMatchObject({ id: aSession, handle: 'calm-harbor-12', workspace: '/work', model: 'sim/model' })
    expect(meta).toMatchObject({ createdAt: anInstant, lastMessageAt: anInstant, branchCount: 0, pinned: false })
    expect(activeAt).toBe(Date.parse(anInstant))
  })

  it('counts turns, and what people and the model said, with calls but without usage and notes', () => {
    const { meta } = rowAfter(...requested, settled(5))
    expect(meta).toMatchObject({ messageCount: 2, turnCount: 1 })
    const note: EventInput = { type: 'note.added', turn: 0, kind: 'system', level: 'info', text: 'A word.' }
    expect(rowAfter(...requested, settled(5), stepEnded, note, answered('Done.')).meta.messageCount).toBe(3)
  })

  it('adds up its usage; one unknown price makes the sum unknown', () => {
    expect(rowAfter(...thinking, usageOf(0.5), usageOf(0.25)).meta.usage).toMatchObject({ input: 20, cost: 0.75 })
    expect(rowAfter(...thinking, usageOf(null), usageOf(0.25)).meta.usage).toMatchObject({ input: 20, cost: null })
    expect(rowAfter(...thinking).meta.usage.cost).toBe(0)
  })

  it('has an unknown cost after an answer without usage, but not after an interrupted one', () => {
    const failed: EventInput = { type: 'step.ended', turn: 0, step: 4, finish: 'failed', usage: null }
    expect(rowAfter(...thinking, stepEnded).meta.usage).toEqual({ ...noUsage, cost: null })
    expect(rowAfter(...thinking, failed).meta.usage).toEqual(noUsage)
  })

  it('is busy exactly while a turn exists', () => {
    expect(rowAfter().busy).toBe(false)
    expect(rowAfter(...thinking)).toMatchObject({ busy: true, meta: { status: 'thinking' } })
    expect(rowAfter(...requested)).toMatchObject({ busy: true, meta: { status: 'tool_executing' } })
    expect(rowAfter(...thinking, turnEnded('failed'))).toMatchObject({ busy: false, meta: { status: 'error' } })
  })

  it('counts the calls that wait for an approval, as long as they do', () => {
    expect(rowAfter(...requested).meta).not.toHaveProperty('waiting')
    expect(rowAfter(...requested, askedFor(5)).meta.waiting).toBe(1)
    expect(rowAfter(...requested, askedFor(5), settled(5)).meta).not.toHaveProperty('waiting')
  })

  it('equals what a client derives from records alone, except for the recent text', () => {
    const named: EventInput = { type: 'settings.changed', title: 'Mine', model: 'sim/other' }
    const given = [...requested, askedFor(5), settled(5), answered('Done.'), usageOf(0.5), turnEnded('done'), named]
    let { meta } = rowAfter()
    let view = viewOf(stateAfter())
    for (const [index, record] of recordsOf(given, 2).entries()) {
      view = addToView(view, record)
      meta = addToMeta(meta, view, record)
      expect(meta).toEqual({ ...rowAfter(...given.slice(0, index + 1)).meta, recentText: '' })
    }
  })

  it('has the status plan while idle in plan mode', () => {
    expect(rowAfter({ type: 'settings.changed', mode: 'plan' }).meta).toMatchObject({ mode: 'plan', status: 'plan' })
  })
})
