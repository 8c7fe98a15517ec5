import { readFileSync } from 'node:fs'
import { fault, HoldfastError } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { toFault } from './to-fault.ts'

const thrownBy = (act: () => unknown): unknown => {
  try {
    return act()
  } catch (error) {
    return error
  }
}

it('returns the fault of our errors and of file system errors', () => {
  const ours = fault('session_locked', 'Session is open elsewhere.', { node: 'n1' })
  expect(toFault(new HoldfastError(ours))).toEqual(ours)
  expect(toFault(thrownBy(() => readFileSync('/none')))).toEqual({
    code: 'storage_error',
    message: '/none cannot be used: no such file or directory (ENOENT).',
    details: { errno: 'ENOENT', path: '/none' },
  })
})

it('returns null for a bug, even if it looks like one of our errors', () => {
  expect(toFault(new TypeError('x is not a function'))).toBeNull()
  expect(toFault(thrownBy(() => readFileSync('/nul\0')))).toBeNull()
  expect(toFault(Object.assign(new Error('x'), { toFault: () => 'nonsense' }))).toBeNull()
})
