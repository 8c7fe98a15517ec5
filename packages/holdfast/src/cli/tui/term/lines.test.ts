import { describe, expect, it } from 'vitest'
import { shownProse, shownText } from './lines.ts'

describe('text from outside', () => {
  it.each(['می‌خواهم', '👨‍💻 👩🏽‍🚀 ❤️‍🔥', 'क्‍ष'])(
    'keeps the joiners of %s in prose, and shows them elsewhere',
    (text) => {
      expect(shownProse(text)).toBe(text)
      expect(shownText(text)).toMatch(/\\u\{200[cd]\}/)
    },
  )

  it('shows joiners that hide something, and everything else that is hidden', () => {
    expect(shownProse('ad\u200dmin \u200c x\u200d')).toBe('ad\\u{200d}min \\u{200c} x\\u{200d}')
    expect(shownProse('می‌خواهم\u202e\u001b[2J')).toBe('می‌خواهم\\u{202e}\\u{1b}[2J')
  })
})
