import { BlobHash, CallId, resultFields } from '@holdfast/protocol'
import { aHash, stateAfter } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, decided, events, phases } from '../../testing/deciding.ts'
import { answerOf } from '../view.ts'

const content = BlobHash.parse(aHash)
const newContent = BlobHash.parse('d'.repeat(64))
const set = { type: 'setBoundary', path: './a.ts', start: 3, end: 9 } as const
const facts = { file: { path: 'a.ts', content } }
const bounded = { type: 'boundary.set', path: 'a.ts', start: 3, end: 9, content } as const

describe('setBoundary', () => {
  it('records the lines with the real path and the content', () => {
    expect(events(phases.idle, asked(set, facts))).toEqual([bounded])
  })

  it.each([
    { start: -1, end: 3 },
    { start: 4, end: 3 },
  ])('refuses the lines $start to $end', (lines) => {
    expect(decided(phases.idle, asked({ ...set, ...lines }, facts))).toBe('bad_boundary')
  })

  it('refuses lines past the end of the file, and takes the first line of an empty one', () => {
    const ofLines = (lines: number, end: number, start = 0) =>
      decided(phases.idle, asked({ ...set, start, end }, { file: { ...facts.file, lines } }))
    expect([ofLines(3, 2), ofLines(3, 3), ofLines(0, 0), ofLines(0, 1)]).toEqual([
      ...['boundary.set', 'bad_boundary', 'boundary.set', 'bad_boundary'],
    ])
  })

  it('answers with the fields of its typed result', () => {
    expect(Object.keys(answerOf({ seq: 2, at: '', v: 1, event: bounded }).result)).toEqual([
      ...resultFields('setBoundary'),
    ])
  })

  it('replaces the boundary of the same file', () => {
    const state = stateAfter(bounded, { ...bounded, start: 0, end: 1 }, { ...bounded, path: 'b.ts' })
    expect(state.boundaries.map(({ path, start, end }) => [path, start, end])).toEqual([
      ['a.ts', 0, 1],
      ['b.ts', 3, 9],
    ])
  })
})

describe('a boundary whose path has become a link', () => {
  const linked = { ...facts.file, path: 'real.ts', linked: ['a.ts'] }

  it('is replaced by the one of the file that the link leads to', () => {
    const again = { ...bounded, path: 'real.ts' }
    expect(events(stateAfter(bounded), asked(set, { file: linked }))).toEqual([
      again,
      { type: 'boundary.cleared', path: 'a.ts' },
    ])
  })

  it('is removed by either path', () => {
    const clear = asked({ type: 'clearBoundary', path: 'a.ts' }, { file: linked })
    expect(events(stateAfter(bounded), clear)).toEqual([{ type: 'boundary.cleared', path: 'a.ts' }])
  })
})

describe('clearBoundary', () => {
  it('removes one boundary or all, and changes nothing without one', () => {
    const state = stateAfter(bounded, { ...bounded, path: 'b.ts' })
    const one = asked({ type: 'clearBoundary', path: './a.ts' }, { file: { path: 'a.ts' } })
    expect(events(state, one)).toEqual([{ type: 'boundary.cleared', path: 'a.ts' }])
    expect(events(phases.idle, one)).toEqual([])
    const all = asked({ type: 'clearAllBoundaries' })
    expect(events(state, all)).toEqual([{ type: 'boundary.cleared', path: null }])
    expect(events(phases.idle, all)).toEqual([])
  })

  it('happens when the session moves to another folder', () => {
    expect(stateAfter(bounded, { type: 'settings.changed', workdir: '/elsewhere' }).boundaries).toEqual([])
  })
})

describe('a call that changed a bounded file', () => {
  const lines = { start: 3, end: 12, content: newContent }
  const finish = (state: typeof phases.started) =>
    events(state, {
      type: 'tool.finished',
      call: CallId.parse(5),
      outcome: { type: 'ok', output: { text: '' } },
      durationMs: 1,
      files: [{ path: 'a.ts', change: 'modified', boundary: lines }],
    })

  it('moves the boundary', () => {
    const state = { ...phases.started, boundaries: [{ path: 'a.ts', start: 3, end: 9, content }] }
    expect(finish(state).slice(1)).toEqual([{ type: 'boundary.set', path: 'a.ts', ...lines, moved: true }])
  })

  it('does not bring back a boundary that was cleared meanwhile', () => {
    expect(finish(phases.started)).toHaveLength(1)
  })
})
