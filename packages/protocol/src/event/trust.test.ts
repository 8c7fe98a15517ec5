import { describe, expect, it } from 'vitest'
import { addTrust, findTrust, Trust } from './trust.ts'

const [hash, other] = ['a'.repeat(64), 'b'.repeat(64)] as const
const trust = (scope: Trust['scope'], argsHash?: string) =>
  Trust.parse({ tool: 'shell', scope, ...(argsHash !== undefined && { argsHash }) })

describe('a list of trust', () => {
  it('holds no duplicates, and distinguishes arguments', () => {
    const all = [trust('turn'), trust('turn', hash), trust('turn', other), trust('session'), trust('turn', hash)]
    expect(all.reduce<readonly Trust[]>(addTrust, [])).toHaveLength(4)
  })

  it('stores only the fields of a trust', () => {
    expect(addTrust([], { type: 'trust.granted', ...trust('turn') } as Trust)).toEqual([trust('turn')])
  })

  it('finds the widest trust that covers a call', () => {
    const all = [trust('turn'), trust('session', hash), trust('workspace', other)]
    expect(findTrust(all, 'shell', hash)?.scope).toBe('session')
    expect(findTrust(all, 'shell', other)?.scope).toBe('workspace')
    expect(findTrust(all, 'shell', 'c'.repeat(64))?.scope).toBe('turn')
    expect(findTrust(all, 'look', hash)).toBeNull()
  })
})
