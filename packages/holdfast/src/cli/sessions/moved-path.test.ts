import { describe, expect, it } from 'vitest'
import { movedPath } from './moved-path.ts'

describe('where a folder is after a move', () => {
  it.each([
    ['/old', '/new'],
    ['/old/below/it', '/new/below/it'],
    ['/link', '/new'],
    ['/older', null],
    ['/', null],
    ['/else/old', null],
  ])('%s is at %s', (folder, moved) => {
    expect(movedPath(folder, ['/old', '/link'], '/new')).toBe(moved)
  })
})
