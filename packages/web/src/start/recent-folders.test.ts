import { expect, it } from 'vitest'
import { foldersOf, isPathBegun, isSameFolder } from './recent-folders.ts'

it('lists folders by their latest message, each once, without sessions that have none', () => {
  const of = (workspace: string, at: string) => ({ workspace, lastMessageAt: at, createdAt: at })
  const sessions = [of('/b', '2026-01-01'), of('/a', '2026-03-01'), of('', '2026-04-01'), of('/b', '2026-02-01')]
  expect(foldersOf(sessions as never)).toEqual(['/a', '/b'])
})

it('asks the server only for what may be an absolute path', () => {
  expect(['/', '/home/me', 'C:\\work', 'D:/', '', 'work', './x', '~'].map(isPathBegun)).toEqual([
    ...[true, true, true, true],
    ...[false, false, false, false],
  ])
})

it('knows a folder with and without a slash at its end as the same', () => {
  expect([
    isSameFolder('/home/me/', '/home/me'),
    isSameFolder('/', '/'),
    isSameFolder('C:\\work\\', 'C:\\work '),
    isSameFolder('/home/me', '/home'),
  ]).toEqual([true, true, true, false])
})
