import { describe, expect, it } from 'vitest'
import { codeOf, sources, under } from './sources.ts'

const over = (max: number, among: typeof sources) =>
  among.filter(({ lines }) => lines > max).map(({ path, lines }) => `${path}: ${lines}`)

describe('size', () => {
  it('keeps every file of the session core under 300 lines', () => {
    const core = under('packages/core/src/', 'packages/protocol/src/')
    expect(core.length).toBeGreaterThan(50)
    expect(over(300, core)).toEqual([])
  })

  it('keeps every other source file under 400', () => {
    expect(over(400, sources)).toEqual([])
  })
})

describe('names', () => {
  it('of files are never vague', () => {
    const vague = /(^|-)(utils?|helpers?|common|managers?|services?|misc)(-|$)/
    expect(sources.filter(({ name }) => vague.test(name)).map(({ path }) => path)).toEqual([])
  })

  it('are given to every export: no default exports', () => {
    const nameless = sources.filter((source) => /^export default/m.test(codeOf(source)))
    expect(nameless.map(({ path }) => path)).toEqual([])
  })
})

describe('open work', () => {
  it('is tracked in issues, not in comments', () => {
    const open = sources.filter(({ text }) => /\b(TODO|FIXME|XXX|HACK)\b/.test(text))
    expect(open.map(({ path }) => path)).toEqual([])
  })
})
