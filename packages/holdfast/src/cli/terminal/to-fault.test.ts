import { readFileSync } from 'node:fs'
import { fault, HoldfastError } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { foreseen } from './to-fault.ts'

const thrownBy = (act: () => unknown): unknown => {
  try {
    return act()
  } catch (error) {
    return error
  }
}

it('finds the fault in one of ours, and in a refusal of the system', () => {
  const ours = fault('session_locked', 'Session is open elsewhere.', { node: 'n1' })
  expect(foreseen(new HoldfastError(ours))).toEqual(ours)
  expect(foreseen(thrownBy(() => readFileSync('/none')))).toEqual({
    code: 'storage_error',
    message: 'The system refused open at /none: ENOENT.',
    details: { errno: 'ENOENT', path: '/none' },
  })
})

it('finds none in a bug, nor in what only looks like one of ours', () => {
  expect(foreseen(new TypeError('x is not a function'))).toBeNull()
  expect(foreseen(thrownBy(() => readFileSync('/nul\0')))).toBeNull()
  expect(foreseen(Object.assign(new Error('x'), { toFault: () => 'nonsense' }))).toBeNull()
})
