import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ReachedSessions } from '../../connect/connect.ts'
import type { App } from './app-state.ts'
import { watchServer } from './watch-server.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('goes on looking after a slow refusal, says it once, and opens the session when it can', async () => {
  const notices: string[] = []
  const shown: unknown[] = []
  const app = {
    lostAt: null,
    handle: { id: 'ses_1' },
    onLost: () => undefined,
    reached: { isRemote: true, close: async () => undefined },
    context: { home: { stateDir: '/nowhere' }, now: () => Date.now() },
    host: { notice: (text: string) => void notices.push(text) },
    show(handle: unknown) {
      app.lostAt = null
      shown.push(handle)
    },
  } as unknown as App // only what the recovery uses
  const sessions = { open: async () => ok('the session') }
  const here = { isRemote: false, sessions, close: async () => undefined } as unknown as ReachedSessions
  const refusals = 2
  let tries = 0
  watchServer(app, {
    findServer: async () => null,
    // Slower than the time between two looks.
    reachSessions: async (): Promise<Result<ReachedSessions>> => {
      tries++
      await new Promise((resolve) => setTimeout(resolve, 2000))
      return tries > refusals ? ok(here) : refuse(fault('bad_config', 'The store is locked.'))
    },
  })
  app.lostAt = Date.now()
  app.onLost()

  await vi.advanceTimersByTimeAsync(20_000)
  expect(tries).toBe(refusals + 1)
  expect(shown).toEqual(['the session'])
  expect(notices).toEqual([
    'The session cannot be opened again yet: The store is locked.',
    'The server did not come back. The session goes on in this process.',
  ])
})
