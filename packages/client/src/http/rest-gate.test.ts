import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createRestGate } from './rest-gate.ts'

it('lets streams end when a rest begins, and continue when it is over', async () => {
  const gate = createRestGate()
  await gate.awake(undefined) // no rest is going on
  const first = gate.begins
  expect(first.aborted).toBe(false)
  gate.rest()
  gate.rest()
  expect([first.aborted, gate.begins.aborted]).toEqual([true, true])
  let isAwake = false
  const awake = gate.awake(undefined).then(() => {
    isAwake = true
  })
  await setImmediate()
  expect(isAwake).toBe(false)
  gate.wake()
  await awake
  expect(gate.begins.aborted).toBe(false)
})

it('lets a reader leave during a rest', async () => {
  const gate = createRestGate()
  gate.rest()
  const left = new AbortController()
  const awake = gate.awake(left.signal)
  left.abort()
  await awake
  gate.wake()
  gate.wake() // nothing rests any more
})
