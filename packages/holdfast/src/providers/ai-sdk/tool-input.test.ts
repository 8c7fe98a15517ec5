import { limits } from '@holdfast/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseToolInput } from './tool-input.ts'

describe('tool input', () => {
  it('accepts an object, and no input as an empty one', () => {
    expect(parseToolInput('{"a":[1,{"b":null}]}')).toEqual({ args: { a: [1, { b: null }] } })
    expect(parseToolInput('')).toEqual({ args: {} })
  })

  it.each(['{"a":', 'null', '[]', '"text"', '7', '{} {}'])('refuses %s', (text) => {
    expect(parseToolInput(text)).toEqual({ args: {}, malformed: expect.any(String) })
  })

  it('refuses input that is too long or too deep', () => {
    const deep = `${'{"a":'.repeat(limits.jsonDepthMax + 2)}1${'}'.repeat(limits.jsonDepthMax + 2)}`
    expect(parseToolInput(deep).malformed).toContain('nested')
    expect(parseToolInput('['.repeat(200_000) + ']'.repeat(200_000)).malformed).toBeDefined()
    expect(parseToolInput(JSON.stringify({ a: 'x'.repeat(limits.callArgsBytesMax) })).malformed).toContain('longer')
  })

  it('refuses input of too many values, before it is parsed', () => {
    const lists = (count: number) => `{"a":[${'[],'.repeat(count / 2 - 2)}0]}`
    expect(parseToolInput(lists(limits.callArgsValuesMax)).malformed).toBeUndefined()
    expect(parseToolInput(lists(2 * limits.callArgsValuesMax)).malformed).toContain('values')
    expect(parseToolInput(`${lists(2 * limits.callArgsValuesMax)} and no JSON`).malformed).toContain('values')
    const text = '\\"[],{}:'.repeat(limits.callArgsValuesMax)
    expect(parseToolInput(JSON.stringify({ text }))).toEqual({ args: { text } })
  })

  it('replaces unpaired surrogates in values and names', () => {
    expect(parseToolInput('{"\\ud83d":["\\udc00"]}')).toEqual({ args: { '\ufffd': ['\ufffd'] } })
  })

  it('keeps a name like __proto__ inert', () => {
    const { args } = parseToolInput('{"__proto__":{"admin":true}}')
    expect(Object.keys(args)).toEqual(['__proto__'])
    expect('admin' in args).toBe(false)
  })

  it('returns every serialized object unchanged', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' })), (value) => {
        expect(JSON.stringify(parseToolInput(JSON.stringify(value)).args)).toBe(JSON.stringify(value))
      }),
    )
  })
})
