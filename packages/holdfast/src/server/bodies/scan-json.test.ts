import { limits } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { scanJson } from './scan-json.ts'

/** Scans a text; returns the limit or the message of its fault, and null without one. */
function scan(text: string): unknown {
  const steps = scanJson(Buffer.from(text))
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value === null ? null : (step.value.details?.['limit'] ?? step.value.message)
}

const { jsonDepthMax, jsonKeysMax, jsonValuesMax } = limits
const list = (items: readonly string[]) => `[${items.join(', ')}]`
const times = (count: number, text: string) => Array.from({ length: count }, () => text)
const object = (keys: number) => `{${Array.from({ length: keys }, (_, each) => `"${each}" : null`).join(',\n')}}`

describe('scanJson', () => {
  it.each(['0', '-1.5e+10', 'true', '"a b, c"', '"\\"["', '{}', '[]'])('counts %s as one value', (value) => {
    expect(scan(list(times(jsonValuesMax - 1, value)))).toBe(null)
    expect(scan(list(times(jsonValuesMax, value)))).toBe('jsonValuesMax')
  })

  it('counts keys as values, and the keys of each object', () => {
    expect(scan(object(jsonKeysMax))).toBe(null)
    expect(scan(object(jsonKeysMax + 1))).toBe('jsonKeysMax')
    const inner = object(jsonKeysMax - 1)
    expect(scan(`{"a":${inner},"b":[${inner},${inner}]}`)).toBe(null)
    expect(scan(list(times(Math.ceil(jsonValuesMax / jsonKeysMax / 2), object(jsonKeysMax))))).toBe('jsonValuesMax')
  })

  it('counts nesting, but not brackets in strings', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(scan(list(times(10, nested(jsonDepthMax - 1))))).toBe(null)
    expect(scan(list([nested(jsonDepthMax)]))).toContain('nested deeper')
    expect(scan(list([`"${nested(jsonDepthMax)}"`, `"\\"${nested(jsonDepthMax)}"`]))).toBe(null)
    expect(scan(list(['"\\\\"', nested(jsonDepthMax)]))).toContain('nested deeper')
  })

  it('stops at the first value beyond the limit', () => {
    let read = 0
    const bytes = new Proxy(Buffer.from(list(times(10 * jsonValuesMax, '0'))), {
      get(target, name) {
        read += Number(typeof name === 'string' && /^\d/.test(name))
        return Reflect.get(target, name, target)
      },
    })
    expect(scanJson(bytes).next().done).toBe(true)
    expect(read).toBeLessThan(4 * jsonValuesMax)
  })
})
