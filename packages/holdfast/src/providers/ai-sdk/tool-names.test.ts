import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createToolNames } from './tool-names.ts'

const common = /^[a-zA-Z0-9_-]{1,64}$/
const strict = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/

describe('tool names', () => {
  it('stay unchanged if the service accepts them', () => {
    const names = createToolNames(['shell', 'mcp__a-b'], strict)
    expect(['shell', 'mcp__a-b'].map(names.toWire)).toEqual(['shell', 'mcp__a-b'])
  })

  it('never turn into the name of another tool', () => {
    const names = createToolNames(['a.b', 'a_b', 'a b'], common)
    expect(['a.b', 'a_b', 'a b'].map(names.toWire)).toEqual(['a_b_2', 'a_b', 'a_b_3'])
  })

  it('of old calls are only made valid', () => {
    const names = createToolNames(['shell'], strict)
    expect(['3d', '', 'x'.repeat(80)].map(names.toWire)).toEqual(['_3d', '_', 'x'.repeat(64)])
    expect(names.fromWire('unheard_of')).toBe('unheard_of')
  })

  it('are valid and convert back unchanged', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ maxLength: 90 })), fc.constantFrom(common, strict), (offered, pattern) => {
        const names = createToolNames(offered, pattern)
        const wire = offered.map(names.toWire)
        expect(wire.every((name) => pattern.test(name))).toBe(true)
        expect(new Set(wire).size).toBe(offered.length)
        expect(wire.map(names.fromWire)).toEqual(offered)
      }),
    )
  })
})
