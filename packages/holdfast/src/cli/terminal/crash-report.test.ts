import { describe, expect, it } from 'vitest'
import { registerKey } from '../../system/secrets/known-keys.ts'
import { createCrashReporter } from './crash-report.ts'

const key = 'sk-crash-0123456789abcdef'

function crashWith(cause: unknown, listener?: (cause: unknown) => void) {
  const written: (string | number)[] = []
  const crash = createCrashReporter({
    write: (text) => void written.push(text),
    exit: (code) => void written.push(code),
  })
  if (listener) crash.onCrash(listener)
  crash.end(cause)
  return written
}

describe('a crash', () => {
  it('is reported without keys and without other fields of the error, and ends the process', () => {
    registerKey(key)
    const error = Object.assign(new Error(`no\u001b[2J ${key}`), { headers: { authorization: 'Bearer other' } })
    const [text, code] = crashWith(error)
    expect(code).toBe(1)
    expect(text).toContain('please report it')
    expect(text).toContain('crash-report.test.ts')
    expect(text).not.toMatch(/sk-crash|other|\u001b/)
  })

  it('is passed to the log first, and ends the process even if the log throws', () => {
    const logged: unknown[] = []
    expect(crashWith('boom', (cause) => logged.push(cause)).at(-1)).toBe(1)
    expect(logged).toEqual(['boom'])
    const exits: number[] = []
    const crash = createCrashReporter({ write: () => undefined, exit: (code) => void exits.push(code) })
    crash.onCrash(() => {
      throw new Error('the log is gone')
    })
    expect(() => crash.end('boom')).toThrow('the log is gone')
    expect(exits).toEqual([1])
  })
})
