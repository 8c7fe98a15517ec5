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

  it('have no details field when there are none', () => {
    expect(fault('internal', 'Broken.')).toEqual({ code: 'internal', message: 'Broken.' })
  })
})
