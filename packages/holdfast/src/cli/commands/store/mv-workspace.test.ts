import { describe, expect, it } from 'vitest'
import { movedPath } from './mv-workspace.ts'

describe('movedPath', () => {
  it.each([
    ['/old', '/new'],
    ['/old/below/it', '/new/below/it'],
    ['/link', '/new'],
    ['/older', null],
    ['/', null],
    ['/else/old', null],
  ])('maps %s to %s', (folder, moved) => {
    expect(movedPath(folder, ['/old', '/link'], '/new')).toBe(moved)
  })

  it.each([
    ['', '/new'],
    ['/old', null],
  ])('maps only sessions without a folder: %s to %s', (folder, moved) => {
    expect(movedPath(folder, [''], '/new')).toBe(moved)
  })
})
