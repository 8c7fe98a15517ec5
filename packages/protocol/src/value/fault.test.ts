import { describe, expect, it } from 'vitest'
import { fault, faultStatus, HoldfastError } from './fault.ts'
import { FaultSchema } from './fault-schema.ts'

const codes = FaultSchema.shape.code.options

describe('faults', () => {
  it('have an error status for every code', () => {
    for (const code of codes) expect(faultStatus[code], code).toBeGreaterThanOrEqual(400)
  })

  it('have stable codes and statuses', () => {
    const codesOf = (status: number) => codes.filter((code) => faultStatus[code] === status)
    expect(codesOf(403)).toEqual(expect.arrayContaining(['not_driver', 'outside_workdir', 'untrusted_workspace']))
    expect(codesOf(413)).toEqual(['too_large'])
    expect(codesOf(423)).toEqual(['session_locked'])
    expect(codesOf(503)).toContain('storage_error')
  })

  it('survive a round trip through an exception and JSON', () => {
    const given = fault('session_locked', 'Session is open elsewhere.', { node: 'n1' })
    expect(new HoldfastError(given).toFault()).toEqual(given)
    expect(FaultSchema.parse(JSON.parse(JSON.stringify(given)))).toEqual(given)
  })

  it('are recognized by another copy of the package', async () => {
    const path = './fault.ts?another-copy'
    const copy: typeof import('./fault.ts') = await import(/* @vite-ignore */ path)
    expect(copy.HoldfastError).not.toBe(HoldfastError)
    const broken = fault('internal', 'Broken.')
    for (const error of [new HoldfastError(broken), new copy.HoldfastError(broken)])
      expect([error instanceof HoldfastError, error instanceof copy.HoldfastError]).toEqual([true, true])
    for (const other of [new Error('x'), { ...broken }, null, 'HoldfastError'])
      expect(other instanceof HoldfastError).toBe(false)
    expect(new HoldfastError(broken)).toEqual(new copy.HoldfastError(broken))
  })

  it('have no details field when there are none', () => {
    expect(fault('internal', 'Broken.')).toEqual({ code: 'internal', message: 'Broken.' })
  })
})
