import { expect, it } from 'vitest'
import { createLiveOutput } from './live-output.ts'

function open() {
  const shown: string[] = []
  const timers: (() => void)[] = []
  const live = createLiveOutput(
    (text) => shown.push(text),
    (_, call) => {
      timers.push(call)
      return () => undefined
    },
  )
  return { live, shown, tick: () => timers.shift()?.() }
}

it('shows output in batches of whole characters', () => {
  const { live, shown, tick } = open()
  const turtle = Buffer.from('🐢')
  live.add(Buffer.from('a'))
  live.add(turtle.subarray(0, 2))
  tick()
  live.add(turtle.subarray(2))
  live.add(Buffer.from('b'))
  tick()
  live.end()
  expect(shown).toEqual(['a', '🐢b'])
})

it('shows only the newest part of fast output', () => {
  const { live, shown, tick } = open()
  for (let round = 0; round < 100; round++) live.add(Buffer.alloc(64 * 1024, 'x'))
  live.add(Buffer.from('end'))
  tick()
  expect(shown).toHaveLength(1)
  expect(shown[0]).toMatch(/^\[…\]x+end$/)
  expect(shown[0]?.length).toBeLessThan(65 * 1024)
})
