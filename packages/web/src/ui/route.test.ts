import { describe, expect, it } from 'vitest'
import { hrefOf, parseRoute } from './route.ts'

describe('the route behind the #', () => {
  it('names a session by id or handle and comes back from its address', () => {
    const route = { at: 'session', name: 'calm-harbor-12' } as const
    expect(parseRoute(hrefOf(route))).toEqual(route)
  })

  it.each(['', '#', '#/', '#/s/', '#/s/../x', '#/s/a?b', '#/s/%2e%2e'])('takes %j for the start', (hash) => {
    expect(parseRoute(hash)).toEqual({ at: 'new' })
  })
})
