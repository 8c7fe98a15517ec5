import { join } from 'node:path'
import { orThrow, type SearchOptions } from '@holdfast/protocol'
import { createDice } from '@holdfast/testkit'
import { openHoldfast } from '../../packages/holdfast/src/entry/index.ts'
import { createZipfText } from '../fixtures/zipf-text.ts'
import { betweenMs, firstMs, workspaceOf } from './fill.ts'

const queries = 200
const hits = 20

export type SearchFigures = {
  readonly p50Ms: number
  readonly p95Ms: number
  readonly worstMs: number
  readonly hits: number
}
export type SearchFiguresByKind = { readonly all: SearchFigures; readonly kinds: ReadonlyMap<string, SearchFigures> }

/** Times 200 searches of all kinds, one after another, in random order. */
export async function benchSearch(dir: string, path: string, sessions: number): Promise<SearchFiguresByKind> {
  const holdfast = await openHoldfast({ store: `sqlite:${path}`, environment: { HOLDFAST_HOME: join(dir, 'home') } })
  const asked = createQueries(sessions)
  const samples = new Map<string, number[]>(asked.map(({ kind }) => [kind, []]))
  const found = new Map<string, number>()
  try {
    for (const { kind, options } of asked) {
      const start = performance.now()
      const page = orThrow(await holdfast.handles.search({ ...options, limit: hits }))
      samples.get(kind)?.push(performance.now() - start)
      found.set(kind, (found.get(kind) ?? 0) + page.hits.length)
    }
  } finally {
    await holdfast.close()
  }
  const kinds = new Map([...samples].map(([kind, values]) => [kind, figuresOf(values, found.get(kind) ?? 0)]))
  const sum = [...found.values()].reduce((one, other) => one + other, 0)
  return { all: figuresOf([...samples.values()].flat(), sum), kinds }
}

type Query = { readonly kind: string; readonly options: Pick<SearchOptions, 'text'> & Partial<SearchOptions> }

function createQueries(sessions: number): readonly Query[] {
  const dice = createDice(11)
  const text = createZipfText(7)
  const between = (low: number, high: number) => text.word(low + dice.below(high - low))
  const common = () => between(0, 100)
  const middling = () => between(200, 3_000)
  const anyDay = () => firstMs + dice.below(sessions) * betweenMs
  const instant = (ms: number) => new Date(ms).toISOString()
  const phrase = () => {
    const [first = '', second = ''] =
      text
        .text(100)
        .toLowerCase()
        .match(/[a-z]+/g) ?? []
    return `"${first} ${second}"`
  }
  const kinds: { readonly [kind: string]: () => Query['options'] } = {
    rare: () => ({ text: between(8_000, 40_000) }),
    middling: () => ({ text: middling() }),
    common: () => ({ text: common() }),
    'two words': () => ({ text: `${common()} ${dice.chance(1, 2) ? common() : middling()}` }),
    phrase: () => ({ text: phrase() }),
    prefix: () => ({ text: `${middling().slice(0, 3)}*` }),
    'in a workspace': () => ({ text: common(), workspace: workspaceOf(dice.below(sessions)) }),
    'by role and date': () => {
      const since = anyDay()
      return { text: common(), role: 'user', since: instant(since), until: instant(since + 1_000 * betweenMs) }
    },
  }
  const names = Object.keys(kinds)
  return Array.from({ length: queries }, (_, index) => {
    const kind = names[index % names.length] ?? ''
    return { kind, options: kinds[kind]?.() ?? { text: common() } }
  })
}

function figuresOf(values: readonly number[], found: number): SearchFigures {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { p50Ms: at(0.5), p95Ms: at(0.95), worstMs: at(1), hits: found }
}
