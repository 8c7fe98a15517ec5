import { expect, it } from 'vitest'
import { createTabPause, pauseAfterMs } from './pause-hidden-tab.ts'

function openTab({ isHolder = false } = {}) {
  const seen: string[] = []
  const timers = new Map<number, () => void>()
  const tab = { isHidden: false, isHolder }
  const pause = createTabPause({
    sessions: {
      pause: async (options) => void seen.push(options?.keepNews ? 'pause, news kept' : 'pause'),
      resume: () => void seen.push('resume'),
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
    pause.onVisibility()
  }
  return { seen, timers, tab, pause, show }
}

it('pauses 30 s after it was hidden, and continues when it is shown', () => {
  const { seen, timers, show } = openTab()
  show(true)
  expect(seen).toEqual([])
  timers.get(pauseAfterMs)?.()
  show(false)
  expect(seen).toEqual(['pause', 'resume', 'announce'])
})

it('does not pause if it is shown again in time', () => {
  const { timers, show } = openTab()
  show(true)
  show(false)
  expect(timers.size).toBe(0)
})

it('pauses at once when a second other tab is shown', () => {
  const { seen, pause, show } = openTab()
  pause.onOtherShown()
  pause.onOtherShown()
  expect(seen).toEqual([]) // two windows side by side
  show(true)
  pause.onOtherShown()
  expect(seen).toEqual([])
  pause.onOtherShown()
  pause.onOtherShown()
  expect(seen).toEqual(['pause'])
})

it('keeps the news if it is the holder, also if it becomes the holder while it is paused', () => {
  const { seen, pause, tab, timers, show } = openTab()
  show(true)
  timers.get(pauseAfterMs)?.()
  tab.isHolder = true
  pause.onHolder()
  expect(seen).toEqual(['pause', 'pause, news kept'])
})
