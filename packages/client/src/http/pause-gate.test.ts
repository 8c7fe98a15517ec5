import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createPauseGate } from './pause-gate.ts'

it('lets streams end when a pause begins, and continue when it is over', async () => {
  const gate = createPauseGate()
  await gate.resumed(undefined) // there is no pause
  const first = gate.begins
  expect(first.aborted).toBe(false)
  gate.pause()
  gate.pause()
  expect([first.aborted, gate.begins.aborted]).toEqual([true, true])
  let isResumed = false
  const resumed = gate.resumed(undefined).then(() => {
    isResumed = true
  })
  await setImmediate()
  expect(isResumed).toBe(false)
  gate.resume()
  await resumed
  expect(gate.begins.aborted).toBe(false)
})

it('lets a reader leave during a pause', async () => {
  const gate = createPauseGate()
  gate.pause()
  const left = new AbortController()
  const resumed = gate.resumed(left.signal)
  left.abort()
  await resumed
  gate.resume()
  gate.resume() // there is no pause any more
})
