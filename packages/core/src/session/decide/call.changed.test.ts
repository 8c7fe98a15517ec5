import { BlobHash, CallId, type Preview } from '@holdfast/protocol'
import {
  aHash,
  approvedBy,
  askedFor,
  callOf,
  factsFor,
  settled,
  stateAfter,
  stepEnded,
  thinking,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, decided, events, livedThrough } from '../../testing/deciding.ts'
import type { Report } from '../input.ts'
import { plan } from '../plan.ts'
import { askedCalls } from '../state.ts'

const hashOf = (digit: string) => BlobHash.parse(digit.repeat(64))
const [shown, found, own] = [hashOf('1'), hashOf('2'), hashOf('3')]
const diffOf = (lines: string): Preview => ({ type: 'diff', path: 'f', diff: `@@ -1,1 +1,1 @@\n${lines}` })
const preview = diffOf('-old\n+new\n')
const facts = { ...factsFor('write_file'), argsHash: BlobHash.parse(aHash) }

const changed = (contentHash: BlobHash, shownNow: Preview = preview): Report => ({
  type: 'call.changed',
  call: CallId.parse(6),
  found: { facts, argsHash: facts.argsHash, preview: shownNow, contentHash },
  atMs: 0,
})

/** Two calls of one round. The first wrote the content `own`; a person approved the second for the content `shown`. */
const calls = [...thinking, callOf('write_file'), callOf('write_file'), stepEnded]
const firstWrote = {
  ...settled(5),
  files: [{ path: 'f', change: 'modified' as const, contentHash: own }],
} as ReturnType<typeof settled>
const ask = (call: number) => askedFor(call, { tool: 'write_file', preview, contentHash: shown })
const approved = stateAfter(
  ...[...calls, ask(5), ask(6)],
  ...[approvedBy(5), { type: 'call.started' as const, call: 5 }, firstWrote],
  { ...approvedBy(6), contentHash: shown } as ReturnType<typeof approvedBy>,
)

describe('an approval', () => {
  it('covers the content that was shown', () => {
    const state = stateAfter(...calls, ask(5), ask(6))
    expect(events(state, asked({ type: 'respondToApproval', decision: 'approve' }))).toMatchObject([
      { type: 'call.approved', call: 5, contentHash: shown },
    ])
    expect(events(state, asked({ type: 'respondToApproval', decision: 'approve_turn' }))).toMatchObject([
      { type: 'call.approved', call: 5, contentHash: shown },
      { type: 'trust.granted' },
      { type: 'call.approved', call: 6, contentHash: shown },
    ])
    expect(plan(approved)).toMatchObject([{ type: 'run-tool', call: 6, contentHash: shown }])
  })
})

describe('an approved call whose content changed', () => {
  it('is asked for again with the new diff, and the former answer no longer counts', () => {
    const newDiff = diffOf('-theirs\n+new\n')
    expect(events(approved, changed(found, newDiff))).toEqual([
      {
        type: 'approval.asked',
        call: 6,
        tool: 'write_file',
        argsHash: facts.argsHash,
        contentHash: found,
        preview: newDiff,
        changed: true,
      },
    ])
    const again = livedThrough(approved, changed(found, newDiff))
    expect(plan(again)).toEqual([])
    expect(askedCalls(again)).toMatchObject([{ id: 6, preview: newDiff, contentHash: found, changed: true }])
    expect(decided(again, { type: 'tool.starting', call: CallId.parse(6), facts, process: null })).toBe('')
    const answered = livedThrough(again, asked({ type: 'respondToApproval', decision: 'approve' }))
    expect(plan(answered)).toMatchObject([{ type: 'run-tool', call: 6, contentHash: found }])
  })

  it('is asked for again even if the diff is the same, unless an earlier call of the session made the change', () => {
    expect(decided(approved, changed(found))).toBe('approval.asked')
    expect(decided(approved, changed(own))).toBe('')
  })

  it('runs if an earlier call only moved its lines', () => {
    const moved: Preview = { type: 'diff', path: 'f', diff: '@@ -7,1 +7,1 @@\n-old\n+new\n' }
    expect(decided(approved, changed(own, moved))).toBe('')
  })

  it('is asked for again if an earlier call changed its diff', () => {
    expect(decided(approved, changed(own, diffOf('-own\n+new\n')))).toBe('approval.asked')
  })

  it('is denied in plan mode', () => {
    const planning = livedThrough(approved, asked({ type: 'enterPlan' }))
    expect(decided(planning, changed(found))).toBe('call.settled note.added')
  })
})

describe('a call that nobody is asked about', () => {
  const trusted = livedThrough(
    stateAfter(...calls, ask(5), ask(6)),
    asked({ type: 'respondToApproval', decision: 'approve_turn' }),
  )

  it('fails if anybody else changed the content', () => {
    expect(events(trusted, changed(found))).toMatchObject([
      {
        type: 'call.settled',
        call: 6,
        outcome: {
          type: 'failed',
          output: { text: expect.stringMatching(/^content_changed: f changed .* nothing was/) },
        },
      },
    ])
  })

  it('runs if an earlier call of the session changed it, whatever its diff is now', () => {
    const begun: Report = { type: 'tool.starting', call: CallId.parse(5), facts, process: null }
    const files = [{ path: 'f', change: 'modified' as const, contentHash: own }]
    const outcome = { type: 'ok' as const, output: { text: '' } }
    const finished: Report = { type: 'tool.finished', call: CallId.parse(5), outcome, durationMs: 1, files }
    const state = livedThrough(trusted, begun, finished)
    expect(decided(state, changed(own, diffOf('-own\n+new\n')))).toBe('')
    expect(decided(state, changed(found))).toBe('call.settled')
  })
})
