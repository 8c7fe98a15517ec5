import { describe, expect, it } from 'vitest'
import { fault, faultStatus, HoldfastError } from './fault.ts'
import { FaultSchema } from './fault-schema.ts'

const codes = FaultSchema.shape.code.options

describe('faults', () => {
  it('give every code the status of an error', () => {
    for (const code of codes) expect(faultStatus[code], code).toBeGreaterThanOrEqual(400)
  })

  it('have codes that never change, each with its status', () => {
    const codesOf = (status: number) => codes.filter((code) => faultStatus[code] === status)
    expect(codesOf(403)).toEqual(expect.arrayContaining(['not_driver', 'outside_workdir', 'untrusted_workspace']))
    expect(codesOf(413)).toEqual(['too_large'])
    expect(codesOf(423)).toEqual(['session_locked'])
    expect(codesOf(503)).toContain('storage_error')
  })

  it('come out of an exception as they went in', () => {
    const given = fault('session_locked', 'Session is open elsewhere.', { node: 'n1' })
    expect(new HoldfastError(given).toFault()).toEqual(given)
    expect(FaultSchema.parse(JSON.parse(JSON.stringify(given)))).toEqual(given)
  })

  it('have no details rather than empty ones', () => {
    expect(fault('internal', 'Broken.')).toEqual({ code: 'internal', message: 'Broken.' })
  })
})
