import { limits } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { cutArguments } from './cut-arguments.ts'
import { printArguments } from './print-arguments.ts'

const long = 'x'.repeat(1024 * 1024)
const printed = (args: { readonly [name: string]: unknown }) => [...printArguments(args)].join('')

/** A list that counts how many of its values are read. */
function countedList(length: number) {
  const count = { reads: 0 }
  const list = Array.from({ length }, (_, index) => `value ${index}`)
  const counted = new Proxy(list, {
    get(target, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) count.reads++
      return Reflect.get(target, name)
    },
  })
  return { count, list: counted }
}

describe('the arguments in a preview', () => {
  it('are unchanged if they fit', () => {
    expect(cutArguments({ note: 'x'.repeat(16_000), list: [1, 2, { a: null }] })).toBe(null)
  })

  it('cost as much work however long they are', () => {
    const works = [10_000, 20_000].map((length) => {
      const { count, list } = countedList(length)
      expect(cutArguments({ list })).not.toBe(null)
      return count.reads
    })
    expect(works[0]).toBe(works[1])
    expect(works[0]).toBeLessThan(2000)
  })

  it('keep both ends of long texts, lists and objects, and say how much is left out', () => {
    const list = Array.from({ length: 20_000 }, (_, index) => index)
    const many = Object.fromEntries(list.map((index) => [`name${index}`, index]))
    const shown = cutArguments({ text: `first ${long} last`, list, many, [`key ${long}`]: 1, end: 'the end' })
    const text = JSON.stringify(shown)
    expect(text.length).toBeLessThan(limits.previewBytesMax)
    for (const part of ['first xxx', 'xxx last', '19999]', 'name0', 'name19999', 'key xxx', 'the end'])
      expect(text).toContain(part)
    expect(text).toContain('[… 19936 values left out …]')
    expect(text).toContain('[… 19936 fields left out …]')
    expect(text).toMatch(/\[… \d+ characters left out …\]/)
  })

  it('are bounded if they are nested, and have names that differ only in the middle', () => {
    let deep: unknown = 'end'
    for (let level = 0; level < limits.jsonDepthMax - 2; level++) deep = [deep, long.slice(0, 10_000)]
    const twins = { [`a${long}b${long}c`]: 1, [`a${long}B${long}c`]: 2 }
    const shown = cutArguments({ deep, twins })
    expect(JSON.stringify(shown, null, 2).length).toBeLessThan(2 * limits.previewBytesMax)
    expect(Object.values(Object(shown?.['twins']))).toEqual([1, 2])
  })
})

describe('the whole of the arguments', () => {
  it('is printed as indented JSON with hidden characters escaped', () => {
    const args = { a: [1, 'two', null, {}, []], b: { 'c"': `\u202e${'😀'.repeat(20_000)}`, d: undefined } }
    const expected = JSON.stringify(
      { ...args, b: { ...args.b, 'c"': args.b['c"'].replace('\u202e', '\\u{202e}'), d: null } },
      null,
      2,
    )
    expect(printed(args)).toBe(expected)
  })

  it('is printed in small pieces', () => {
    const sizes = [...printArguments({ long, list: Array.from({ length: 20_000 }, () => 'é') })].map(
      ({ length }) => length,
    )
    expect(Math.max(...sizes)).toBeLessThan(64 * 1024)
    expect(sizes.length).toBeGreaterThan(50)
  })
})
