import { globSync, readFileSync } from 'node:fs'
import { foldNumber } from '@holdfast/core'
import { Event, type EventType, eventVersion, Recorded } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { type Folded, fold } from '../../packages/core/src/runtime/log/load-session.ts'
import { formatGoldenFold } from '../../scripts/write-golden-folds.ts'
import { oneOfEach } from './sample-records.ts'

const types = Object.keys(oneOfEach) as EventType[] // the table has one key per type

describe('every event', () => {
  it('has an example record', () => {
    expect(types.toSorted()).toEqual(Event.options.map(({ shape }) => shape.type.value).toSorted())
  })

  it.each(types)('%s survives a round trip through JSON', (type) => {
    const record = { seq: 7, at: '2026-01-02T03:04:05.678Z', v: eventVersion[type], event: oneOfEach[type] }
    expect(Recorded.parse(JSON.parse(JSON.stringify(record)))).toEqual(record)
  })

  it.each(types)('%s has a row in docs/events.md', (type) => {
    expect(readFileSync('docs/events.md', 'utf8')).toContain(`\n### ${type}\n`)
  })
})

type Golden = { readonly fold: number; readonly session: string; readonly folded: Folded }

/** Logs written by earlier versions, each with its fold. Add new ones; never edit the old ones. */
describe('a golden log', () => {
  const logs = globSync('test/golden/*.jsonl').toSorted()

  it('exists for the current fold number', () => {
    expect(logs.map((path) => goldenOf(path).fold)).toContain(foldNumber)
  })

  it('contains every event in its current version', () => {
    const seen = new Set(logs.flatMap(recordsOf).map(({ event, v }) => `${event.type} ${v}`))
    expect(types.filter((type) => !seen.has(`${type} ${eventVersion[type]}`))).toEqual([])
  })

  it.each(logs)('%s can still be read', (path) => {
    expect(recordsOf(path).length).toBeGreaterThan(0)
    foldOf(path)
  })

  // A changed fold needs a new number. Otherwise old snapshots would be loaded as current.
  it.each(logs.filter((path) => goldenOf(path).fold === foldNumber))('%s still gives the same fold', (path) => {
    expect(foldOf(path)).toEqual(goldenOf(path).folded)
  })

  it.each(logs)('%s has a golden file that the script formats as Biome does', (path) => {
    const file = path.replace(/[.]jsonl$/, '.fold.json')
    expect(formatGoldenFold(file, goldenOf(path))).toBe(readFileSync(file, 'utf8'))
  })
})

const recordsOf = (path: string): readonly Recorded[] =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => Recorded.parse(JSON.parse(line)))

const goldenOf = (path: string): Golden => JSON.parse(readFileSync(path.replace(/[.]jsonl$/, '.fold.json'), 'utf8'))

function foldOf(path: string): Folded | null {
  const { session } = goldenOf(path)
  const id = session as Parameters<typeof fold>[1] // our own file
  const folded = recordsOf(path).reduce<Folded | null>((sum, record) => fold(sum, id, record), null)
  return JSON.parse(JSON.stringify(folded))
}
