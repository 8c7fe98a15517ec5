import { beforeEach, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { outcomeOutput } from '../event/call.ts'
import { Event, type Recorded } from '../event/event.ts'
import { Frame, type FrameOf } from './frame.ts'
import { createTranscript } from './transcript.ts'

const sessionId = 'ses_01k9xyzabcdefghjkmnpqrstvw'
const at = '2026-01-02T03:04:05.678Z'
const record = (seq: number, event: z.input<typeof Event>): Recorded => ({ seq, at, v: 1, event: Event.parse(event) })
const user = (seq: number, text: string) =>
  record(seq, { type: 'user.said', turn: 0, content: [{ type: 'text', text }] })
const said = (seq: number, text: string) => record(seq, { type: 'text.said', turn: 0, step: 3, text, provider: 'demo' })
const stepEnded = (seq: number, step = 3) =>
  record(seq, { type: 'step.ended', turn: 0, step, finish: 'stop', usage: null })
const argsHash = 'a'.repeat(64)

const delta = (index: number, text: string, more: object = {}) =>
  Frame.parse({ type: 'delta', sessionId, step: 3, part: 0, kind: 'text', index, text, ...more }) as FrameOf<'delta'>
const draft = (index: number, text: string) =>
  Frame.parse({
    type: 'draft',
    sessionId,
    step: 3,
    index,
    parts: [{ step: 3, part: 0, kind: 'text', text }],
  }) as FrameOf<'draft'>

let transcript = createTranscript()
beforeEach(() => {
  transcript = createTranscript()
})
const live = () => transcript.live.map(({ text }) => text)

describe('messages', () => {
  it('are created from message events, each with the previous one as parent', () => {
    transcript.add(record(2, { type: 'turn.started', turn: 0, cause: 'prompt' }))
    for (const one of [user(3, 'hi'), said(5, 'hello'), stepEnded(6)]) transcript.add(one)
    expect(transcript.messages.map(({ id, parent, kind }) => [id, parent, kind])).toEqual([
      [3, null, 'user'],
      [5, 3, 'assistant'],
      [6, 5, 'usage'],
    ])
  })

  it('are added at the front from an older page', () => {
    transcript.add(said(5, 'new'))
    const older = createTranscript()
    older.add(user(3, 'old'))
    transcript.prepend(older.messages)
    expect(transcript.messages.map(({ id }) => id)).toEqual([3, 5])
  })

  it('are removed when the line moves away from them', () => {
    for (const one of [user(3, 'a'), said(5, 'b'), user(8, 'c')]) transcript.add(one)
    const to = [
      { from: 1, to: 4 },
      { from: 8, to: null },
    ]
    transcript.add(
      record(9, {
        type: 'line.moved',
        to,
        turns: 1,
        messages: 2,
        tokens: 9,
        last: null,
        checkpoint: null,
        name: null,
        keep: { name: 'branch-1', turns: 2, messages: 3 },
        why: 'branch',
      }),
    )
    expect(transcript.messages.map(({ id }) => id)).toEqual([3, 8])
  })
})

describe('collapsed calls', () => {
  const request = (seq: number) =>
    record(seq, { type: 'call.requested', turn: 0, step: 2, tool: 'look', args: {}, provider: 'demo' })
  const fold = (seq: number, message: number | null, collapsed: boolean) =>
    record(seq, { type: 'message.collapsed', message, collapsed })
  const folded = (shown: ReturnType<typeof createTranscript>) => shown.messages.map(({ collapsed }) => collapsed)

  it('follow the default, except those toggled on their own', () => {
    const shown = createTranscript()
    for (const one of [request(3), request(4), fold(5, 3, true), request(6)]) shown.add(one)
    expect(folded(shown)).toEqual([true, false, false])
    for (const one of [fold(7, null, true), request(8), fold(9, 8, false)]) shown.add(one)
    expect(folded(shown)).toEqual([true, true, true, false])
  })

  it('stay collapsed in a transcript that starts empty', () => {
    const shown = createTranscript([], true)
    shown.add(request(3))
    expect(folded(shown)).toEqual([true])
  })
})

describe('a call', () => {
  const asked = record(7, {
    type: 'approval.asked',
    call: 4,
    tool: 'shell',
    argsHash,
    preview: { type: 'command', command: 'ls', cwd: '/' },
  })
  const callView = () =>
    transcript.messages.flatMap((message) => (message.kind === 'tool_call' ? [message.call] : []))[0]

  beforeEach(() => {
    transcript.add(record(4, { type: 'call.requested', turn: 0, step: 3, tool: 'shell', args: {}, provider: 'demo' }))
  })

  it('is waiting, asked for, approved, running and complete', () => {
    expect(callView()).toMatchObject({ status: 'waiting', approval: null })
    transcript.add(asked)
    expect(callView()).toMatchObject({ status: 'waiting', approval: { id: 7 } })
    transcript.add(record(8, { type: 'call.approved', call: 4, argsHash, by: { client: 'tui' }, scope: 'once' }))
    expect(callView()).toMatchObject({ status: 'waiting', approval: null, approvedBy: { client: 'tui' } })
    transcript.add(record(9, { type: 'call.started', call: 4 }))
    expect(callView()).toMatchObject({ status: 'running' })
    const outcome = { type: 'ok' as const, output: { text: 'a.txt' } }
    transcript.add(record(10, { type: 'call.settled', call: 4, outcome, durationMs: 12 }))
    expect(callView()).toMatchObject({ status: 'complete', result: { text: 'a.txt' }, durationMs: 12 })
  })

  it('has the files that it changed, and whether lines outside an edit boundary did', () => {
    const outcome = { type: 'failed' as const, output: { text: 'outside' } }
    const after = 'b'.repeat(64)
    const files = [
      { path: 'a.txt', change: 'modified' as const, after, outside: true as const },
      { path: 'c.txt', change: 'moved' as const, from: 'b.txt', after },
    ]
    transcript.add(record(10, { type: 'call.settled', call: 4, outcome, durationMs: 12, files }))
    expect(callView()?.files).toEqual([
      { path: 'a.txt', change: 'modified', outside: true },
      { path: 'c.txt', change: 'moved', from: 'b.txt' },
    ])
    transcript.add(record(11, { type: 'files.touched', call: 4, files: [{ path: 'd.txt', change: 'created', after }] }))
    expect(callView()?.files?.map(({ path }) => path)).toEqual(['a.txt', 'c.txt', 'd.txt'])
  })

  it('has no pending approval after a rejection', () => {
    transcript.add(asked)
    const outcome = { type: 'denied' as const, code: 'rejected' as const, message: 'no' }
    transcript.add(record(8, { type: 'call.settled', call: 4, outcome, durationMs: null }))
    expect(callView()).toMatchObject({ status: 'denied', approval: null, result: { text: 'rejected: no' } })
  })

  it('keeps the diff that was approved or rejected', () => {
    const preview = { type: 'diff' as const, path: 'a.txt', diff: '@@ -1 +1 @@\n-a\n+b\n' }
    transcript.add(record(7, { type: 'approval.asked', call: 4, tool: 'edit_file', argsHash, preview }))
    expect(callView()?.preview).toBeUndefined()
    transcript.add(record(8, { type: 'call.approved', call: 4, argsHash, by: { client: 'tui' }, scope: 'once' }))
    expect(callView()).toMatchObject({ approval: null, preview })
    const outcome = { type: 'ok' as const, output: { text: 'done' } }
    transcript.add(record(10, { type: 'call.settled', call: 4, outcome, durationMs: 12 }))
    expect(callView()).toMatchObject({ status: 'complete', preview })

    transcript.add(record(14, { type: 'call.requested', turn: 0, step: 3, tool: 'x', args: {}, provider: 'demo' }))
    transcript.add(record(15, { type: 'approval.asked', call: 14, tool: 'edit_file', argsHash, preview }))
    const denied = { type: 'denied' as const, code: 'rejected' as const, message: 'no' }
    transcript.add(record(16, { type: 'call.settled', call: 14, outcome: denied, durationMs: null }))
    expect(transcript.messages.at(-1)).toMatchObject({ call: { status: 'denied', approval: null, preview } })
  })

  it('becomes a new object when it changes', () => {
    const before = transcript.messages[0]
    transcript.add(asked)
    expect(transcript.messages[0]).not.toBe(before)
  })

  it('is still found after an older page was added', () => {
    const older = createTranscript()
    older.add(user(2, 'old'))
    transcript.prepend(older.messages)
    transcript.add(record(9, { type: 'call.started', call: 4 }))
    expect(callView()).toMatchObject({ status: 'running' })
  })

  it('that is not loaded changes nothing', () => {
    const before = [...transcript.messages]
    transcript.add(record(9, { type: 'call.started', call: 77 }))
    expect(transcript.messages).toEqual(before)
  })
})

describe('live parts', () => {
  it('grow by deltas, part by part', () => {
    transcript.addLive(delta(0, 'Hel'))
    transcript.addLive(delta(1, 'lo'))
    transcript.addLive(delta(2, 'next', { part: 1 }))
    expect(live()).toEqual(['Hello', 'next'])
  })

  it('are replaced by a draft, and take no delta twice', () => {
    transcript.addLive(delta(0, 'lost'))
    transcript.addLive(draft(5, 'Hello'))
    transcript.addLive(delta(5, 'lo'))
    transcript.addLive(delta(6, ' there'))
    expect(live()).toEqual(['Hello there'])
  })

  it('are removed when their step ends', () => {
    transcript.addLive(delta(0, 'Hello'))
    transcript.add(said(5, 'Hello'))
    transcript.add(stepEnded(6))
    expect(live()).toEqual([])
  })

  it('keep the output of a call until the call is settled', () => {
    transcript.addLive(delta(0, 'total 3', { part: 4, kind: 'output', call: 4 }))
    transcript.add(stepEnded(6))
    expect(live()).toEqual(['total 3'])
    const outcome = { type: 'ok' as const, output: { text: 'total 3' } }
    transcript.add(record(9, { type: 'call.settled', call: 4, outcome, durationMs: 1 }))
    expect(live()).toEqual([])
  })

  it('ignore fragments of what a snapshot has already', () => {
    transcript.add(said(5, 'Hello'))
    transcript.add(stepEnded(6))
    transcript.add(record(8, { type: 'call.requested', turn: 0, step: 3, tool: 'look', args: {}, provider: 'demo' }))
    const outcome = { type: 'ok' as const, output: { text: 'total 3' } }
    transcript.add(record(9, { type: 'call.settled', call: 8, outcome, durationMs: 1 }))
    const ahead = createTranscript(transcript.messages)
    ahead.addLive(delta(0, 'Hello'))
    ahead.addLive(delta(1, 'total 3', { part: 8, kind: 'output', call: 8 }))
    ahead.addLive(draft(2, 'Hello'))
    expect(ahead.live).toEqual([])
  })

  it('raise the version at every change', () => {
    const before = transcript.version
    transcript.addLive(delta(0, 'x'))
    expect(transcript.version).toBeGreaterThan(before)
  })
})

describe('outcomeOutput', () => {
  it('says that the effect of an interrupted call is unknown, unless it never ran', () => {
    expect(outcomeOutput({ type: 'interrupted', code: 'crashed' }).text).toContain('what it did is not known')
    expect(outcomeOutput({ type: 'interrupted', code: 'cancelled' }).text).not.toContain('not known')
  })

  it('includes output from before the interruption', () => {
    const { text } = outcomeOutput({ type: 'interrupted', code: 'aborted', output: { text: 'half' } })
    expect(text).toMatch(/^half\ninterrupted: stopped by a person/)
  })
})
