import { expect, it } from 'vitest'
import { createTabRest, restAfterMs } from './tab-rest.ts'

function openTab({ isHolder = false } = {}) {
  const seen: string[] = []
  const timers = new Map<number, () => void>()
  const tab = { isHidden: false, isHolder }
  const rest = createTabRest({
    sessions: {
      rest: async (options) => void seen.push(options?.keepNews ? 'rest, news kept' : 'rest'),
      wake: () => void seen.push('wake'),
    },
    isHidden: () => tab.isHidden,
    isHolder: () => tab.isHolder,
    after(ms, work) {
      timers.set(ms, work)
      return () => timers.delete(ms)
    },
    announce: () => void seen.push('announce'),
  })
  const show = (isHidden: boolean) => {
    tab.isHidden = isHidden
    rest.onVisibility()
  }
  return { seen, timers, tab, rest, show }
}

it('rests 30 s after it was hidden, and continues when it is shown', () => {
  const { seen, timers, show } = openTab()
  show(true)
  expect(seen).toEqual([])
  timers.get(restAfterMs)?.()
  show(false)
  expect(seen).toEqual(['rest', 'wake', 'announce'])
})

it('does not rest if it is shown again in time', () => {
  const { timers, show } = openTab()
  show(true)
  show(false)
  expect(timers.size).toBe(0)
})

it('rests at once when a second other tab is shown', () => {
  const { seen, rest, show } = openTab()
  rest.onOtherShown()
  rest.onOtherShown()
  expect(seen).toEqual([]) // two windows side by side
  show(true)
  rest.onOtherShown()
  expect(seen).toEqual([])
  rest.onOtherShown()
  rest.onOtherShown()
  expect(seen).toEqual(['rest'])
})

it('keeps the news if it is the holder, also if it becomes the holder while it rests', () => {
  const { seen, rest, tab, timers, show } = openTab()
  show(true)
  timers.get(restAfterMs)?.()
  tab.isHolder = true
  rest.onHolder()
  expect(seen).toEqual(['rest', 'rest, news kept'])
})
