import { ClientId } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createDriverControl } from './driver-control.ts'

const [ada, bob, cyd] = ['ada', 'bob', 'cyd'].map((name) => ClientId.parse(name)) as [ClientId, ClientId, ClientId]

function seated(...sitting: readonly (readonly [ClientId, ('driver' | 'viewer')?])[]) {
  let changes = 0
  const seats = createDriverControl(() => {
    changes += 1
  })
  for (const [client, role] of sitting) seats.sit(client, role)
  return { seats, changes: () => changes }
}

describe('the seats of a session', () => {
  it('let the first to come drive, and the second watch', () => {
    const { seats } = seated([ada], [bob])
    expect(seats.all).toEqual([
      { client: ada, role: 'driver' },
      { client: bob, role: 'viewer' },
    ])
    expect(seats.refusal(ada)).toBeNull()
    expect(seats.refusal(bob)).toMatchObject({ code: 'not_driver', details: { driver: ada } })
  })

  it('leave the wheel to the next for whom it is not taken, when the first only wants to watch', () => {
    const { seats } = seated([ada, 'viewer'], [bob])
    expect(seats.roleOf(ada)).toBe('viewer')
    expect(seats.roleOf(bob)).toBe('driver')
  })

  it('fall vacant when the driver leaves, and are claimed by one who is attached', () => {
    const { seats } = seated([ada], [bob])
    expect(seats.claim(bob)).toMatchObject({ code: 'driver_taken' })
    seats.leave(ada)
    expect(seats.refusal(bob)).toMatchObject({ code: 'not_driver', details: { driver: null } })
    expect(seats.refusal(cyd)).toBeNull()
    expect(seats.claim(cyd)).toMatchObject({ code: 'not_subscribed' })
    expect(seats.claim(bob)).toBeNull()
    expect(seats.roleOf(bob)).toBe('driver')
  })

  it('are handed over by the driver alone, to one who is attached', () => {
    const { seats } = seated([ada], [bob])
    expect(seats.handOver(bob, ada)).toMatchObject({ code: 'not_driver' })
    expect(seats.handOver(ada, cyd)).toMatchObject({ code: 'not_subscribed' })
    expect(seats.handOver(cyd, ada)).toMatchObject({ code: 'not_subscribed' })
    expect(seats.handOver(ada, bob)).toBeNull()
    expect(seats.all.map(({ role }) => role)).toEqual(['viewer', 'driver'])
  })

  it('are nothing to hand over for one who has none, vacant or not', () => {
    const { seats } = seated([ada, 'viewer'])
    expect(seats.handOver(cyd, ada)).toMatchObject({ code: 'not_subscribed' })
    expect(seats.handOver(ada, ada)).toMatchObject({ code: 'not_driver', details: { driver: null } })
    expect(seats.roleOf(ada)).toBe('viewer')
  })

  it('are given up by a driver that subscribes again as viewer', () => {
    const { seats } = seated([ada], [ada, 'viewer'])
    expect(seats.roleOf(ada)).toBe('viewer')
  })

  it('are kept while one of several subscriptions of a client is left', () => {
    const { seats } = seated([ada], [ada])
    seats.leave(ada)
    expect(seats.roleOf(ada)).toBe('driver')
    seats.leave(ada)
    expect(seats.roleOf(ada)).toBeNull()
  })

  it('tell of every change, and of nothing else', () => {
    const { seats, changes } = seated([ada], [bob])
    expect(changes()).toBe(2)
    seats.claim(ada)
    seats.leave(cyd)
    expect(changes()).toBe(2)
    seats.handOver(ada, bob)
    expect(changes()).toBe(4)
  })
})
