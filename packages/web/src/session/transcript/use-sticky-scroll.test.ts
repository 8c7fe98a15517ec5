import { describe, expect, it } from 'vitest'
import { stopsFollowing } from './use-sticky-scroll.ts'

describe('a scroll while the end is followed', () => {
  const before = { scrollTop: 600, scrollHeight: 900, clientHeight: 300 }

  it('stops following if a person scrolls up', () => {
    expect(stopsFollowing(before, { ...before, scrollTop: 500 }, true)).toBe(true)
    expect(stopsFollowing(before, { ...before, scrollTop: 500, scrollHeight: 1000 }, true)).toBe(true)
  })

  it('stops following if the text moves up by itself, as the search of a browser moves it', () => {
    expect(stopsFollowing(before, { ...before, scrollTop: 500 }, false)).toBe(true)
  })

  it('goes on if the text moves because something has another height', () => {
    expect(stopsFollowing(before, { ...before, scrollTop: 500, scrollHeight: 1000 }, false)).toBe(false)
    expect(stopsFollowing(before, { ...before, scrollTop: 500, clientHeight: 400 }, false)).toBe(false)
  })

  it('goes on if the text moves down', () => {
    expect(stopsFollowing(before, { ...before, scrollTop: 700 }, true)).toBe(false)
  })
})
