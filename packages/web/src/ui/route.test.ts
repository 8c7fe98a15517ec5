import { describe, expect, it } from 'vitest'
import { hrefOf, parseRoute } from './route.ts'

describe('the route in the hash', () => {
  it('round-trips a session id or handle', () => {
    const route = { at: 'session', name: 'calm-harbor-12' } as const
    expect(parseRoute(hrefOf(route))).toEqual(route)
  })

  it('round-trips a subagent beside its session', () => {
    const route = { at: 'session', name: 'calm-harbor-12', child: '01ABC' } as const
    expect(parseRoute(hrefOf(route))).toEqual(route)
  })

  it.each(['', '#', '#/', '#/s/', '#/s/../x', '#/s/a/', '#/s/a/b/c', '#/s/a?b', '#/s/%2e%2e'])(
    'treats %j as the start page',
    (hash) => {
      expect(parseRoute(hash)).toEqual({ at: 'new' })
    },
  )
})
