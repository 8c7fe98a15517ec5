import { describe, expect, it } from 'vitest'
import { registerKey } from '../../system/secrets/known-keys.ts'
import { createCrash } from './crash-report.ts'

const key = 'sk-crash-0123456789abcdef'

function crashed(cause: unknown, hear?: (cause: unknown) => void) {
  const said: (string | number)[] = []
  const crash = createCrash({ write: (text) => void said.push(text), exit: (code) => void said.push(code) })
  if (hear) crash.onCrash(hear)
  crash.end(cause)
  return said
}

describe('a crash', () => {
  it('is told without a key, and without what hangs on the error, and ends the process', () => {
    registerKey(key)
    const error = Object.assign(new Error(`no\u001b[2J ${key}`), { headers: { authorization: 'Bearer other' } })
    const [text, code] = crashed(error)
    expect(code).toBe(1)
    expect(text).toContain('please report it')
    expect(text).toContain('crash-report.test.ts')
    expect(text).not.toMatch(/sk-crash|other|\u001b/)
  })

  it('is heard by the log first, and ends the process even if that breaks', () => {
    const heard: unknown[] = []
    expect(crashed('boom', (cause) => heard.push(cause)).at(-1)).toBe(1)
    expect(heard).toEqual(['boom'])
    const said: number[] = []
    const crash = createCrash({ write: () => undefined, exit: (code) => void said.push(code) })
    crash.onCrash(() => {
      throw new Error('the log is gone')
    })
    expect(() => crash.end('boom')).toThrow('the log is gone')
    expect(said).toEqual([1])
  })
})
