import { describe, expect, it } from 'vitest'
import { completeMention, findMention } from './completion.ts'

describe('a mention of a file', () => {
  it.each([
    ['@', 1, { start: 0, text: '' }],
    ['look at @src/la', 15, { start: 8, text: 'src/la' }],
    ['(@a', 3, { start: 1, text: 'a' }],
    ['me@example.org', 14, null],
    ['@done and more', 14, null],
    ['@one two', 4, { start: 0, text: 'one' }],
  ])('is found at the caret in %j', (text, caret, mention) => {
    expect(findMention(text, caret)).toEqual(mention)
  })

  it('is completed in the middle of a text, with the caret behind it', () => {
    const mention = { start: 5, text: 'la' }
    expect(completeMention('read @la now', mention, { path: 'src/lamp.ts', type: 'file' })).toEqual({
      text: 'read @src/lamp.ts now',
      caret: 17,
    })
    expect(completeMention('read @la', mention, { path: 'src/lamp.ts', type: 'file' }).text).toBe('read @src/lamp.ts ')
  })

  it('stays open in a folder, and quotes a path with a space', () => {
    expect(completeMention('@s', { start: 0, text: 's' }, { path: 'src', type: 'folder' }).text).toBe('@src/')
    expect(completeMention('@s', { start: 0, text: 's' }, { path: 'a b.txt', type: 'file' }).text).toBe('@"a b.txt" ')
  })
})
