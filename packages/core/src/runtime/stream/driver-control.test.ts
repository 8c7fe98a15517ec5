import { type Authority, ClientId } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createDriverControl, type DriverControl } from './driver-control.ts'

const [ada, bob, cyd] = ['ada', 'bob', 'cyd'].map((name) => ClientId.parse(name)) as [ClientId, ClientId, ClientId]

const claim = (drivers: DriverControl, by: ClientId, takeOver = false) =>
  drivers.answer({ type: 'claimDriver', takeOver }, by)
const handOver = (drivers: DriverControl, by: ClientId, client: ClientId) =>
  drivers.answer({ type: 'handOver', client }, by)

const driving: Authority = { person: null, mayDrive: true, isAdmin: false }

function attached(...joining: readonly (readonly [ClientId, ('driver' | 'viewer' | undefined)?, Authority?])[]) {
  let changes = 0
  const drivers = createDriverControl(() => {
    changes += 1
  })
  for (const [client, role, authority = driving] of joining) drivers.attach(client, role, authority)
  return { drivers, changes: () => changes }
}

describe('driver control', () => {
  it('makes the first client the driver and the second a viewer', () => {
    const { drivers } = attached([ada], [bob])
    expect(drivers.all).toEqual([
      { client: ada, role: 'driver' },
      { client: bob, role: 'viewer' },
    ])
    expect(drivers.refusal(ada)).toBeNull()
    expect(drivers.refusal(bob)).toMatchObject({ code: 'not_driver', details: { driver: ada } })
  })

  it('makes the second client the driver when the first asks to view', () => {
    const { drivers } = attached([ada, 'viewer'], [bob])
    expect(drivers.roleOf(ada)).toBe('viewer')
    expect(drivers.roleOf(bob)).toBe('driver')
  })

  it('becomes free when the driver leaves, and an attached client can claim it', () => {
    const { drivers } = attached([ada], [bob])
    expect(claim(drivers, bob)).toMatchObject({ code: 'driver_taken' })
    drivers.detach(ada)
    expect(drivers.refusal(bob)).toMatchObject({ code: 'not_driver', details: { driver: null } })
    expect(drivers.refusal(cyd)).toBeNull()
    expect(claim(drivers, cyd)).toMatchObject({ code: 'not_subscribed' })
    expect(claim(drivers, bob)).toBeNull()
    expect(drivers.roleOf(bob)).toBe('driver')
  })

  it('is handed over only by the driver, and only to an attached client', () => {
    const { drivers } = attached([ada], [bob])
    expect(handOver(drivers, bob, ada)).toMatchObject({ code: 'not_driver' })
    expect(handOver(drivers, ada, cyd)).toMatchObject({ code: 'not_subscribed' })
    expect(handOver(drivers, cyd, ada)).toMatchObject({ code: 'not_subscribed' })
    expect(handOver(drivers, ada, bob)).toBeNull()
    expect(drivers.all.map(({ role }) => role)).toEqual(['viewer', 'driver'])
  })

  it('cannot be handed over by a client that does not drive', () => {
    const { drivers } = attached([ada, 'viewer'])
    expect(handOver(drivers, cyd, ada)).toMatchObject({ code: 'not_subscribed' })
    expect(handOver(drivers, ada, ada)).toMatchObject({ code: 'not_driver', details: { driver: null } })
    expect(drivers.roleOf(ada)).toBe('viewer')
  })

  it('is given up by a driver that subscribes again as a viewer', () => {
    const { drivers } = attached([ada], [ada, 'viewer'])
    expect(drivers.roleOf(ada)).toBe('viewer')
  })

  it('stays with a client until its last subscription ends', () => {
    const { drivers } = attached([ada], [ada])
    drivers.detach(ada)
    expect(drivers.roleOf(ada)).toBe('driver')
    drivers.detach(ada)
    expect(drivers.roleOf(ada)).toBeNull()
  })

  it('reports each change and nothing else', () => {
    const { drivers, changes } = attached([ada], [bob])
    expect(changes()).toBe(2)
    claim(drivers, ada)
    drivers.detach(cyd)
    expect(changes()).toBe(2)
    handOver(drivers, ada, bob)
    expect(changes()).toBe(4)
  })

  it('is taken over in one change by another client of the same person, and by an admin from anyone', () => {
    const mine: Authority = { ...driving, person: 'token:1' }
    const { drivers, changes } = attached([ada, undefined, mine], [bob, undefined, mine], [cyd, undefined, driving])
    expect(claim(drivers, bob)).toMatchObject({ code: 'driver_taken', details: { driver: ada } })
    expect(claim(drivers, bob, true)).toBeNull()
    expect(changes()).toBe(4)
    expect(drivers.all.map(({ role }) => role)).toEqual(['viewer', 'driver', 'viewer'])
    expect(claim(drivers, cyd, true)).toMatchObject({ code: 'driver_taken', details: { driver: bob } })
    drivers.attach(cyd, undefined, { ...driving, isAdmin: true })
    expect(claim(drivers, cyd, true)).toBeNull()
    expect(drivers.roleOf(cyd)).toBe('driver')
  })

  it('is not handed over to a client that may only watch', () => {
    const { drivers } = attached([ada], [bob, 'viewer', { person: null, mayDrive: false, isAdmin: false }])
    expect(handOver(drivers, ada, bob)).toMatchObject({ code: 'not_driver' })
    expect([drivers.roleOf(ada), drivers.roleOf(bob)]).toEqual(['driver', 'viewer'])
  })

  it('lets no other caller act under the name of an attached client', () => {
    const anna: Authority = { ...driving, person: 'token:anna' }
    const vic: Authority = { person: 'token:vic', mayDrive: false, isAdmin: false }
    const { drivers, changes } = attached([ada, undefined, anna])
    for (const other of [vic, driving, { ...driving, person: 'token:carl', isAdmin: true }]) {
      expect([drivers.attach(ada, 'viewer', other), drivers.attach(ada, undefined, other)]).toEqual([false, false])
      expect(drivers.all).toEqual([{ client: ada, role: 'driver' }])
    }
    expect(changes()).toBe(1)
    expect(drivers.attach(ada, 'viewer', anna)).toBe(true)
    expect(drivers.roleOf(ada)).toBe('viewer')
  })

  it('lets a viewer claim and abort only if it may drive', () => {
    const watching: Authority = { person: null, mayDrive: false, isAdmin: false }
    const { drivers } = attached([ada], [bob, 'viewer', watching], [cyd, 'viewer'])
    expect([claim(drivers, bob, true), drivers.abortRefusal(bob)]).toMatchObject([
      { code: 'not_driver' },
      { code: 'not_driver' },
    ])
    expect([drivers.abortRefusal(cyd), drivers.refusal(cyd)]).toMatchObject([null, { code: 'not_driver' }])
    drivers.detach(ada)
    expect(claim(drivers, bob)).toMatchObject({ code: 'not_driver' })
    expect(drivers.refusal(bob)?.message).not.toContain('Claim control') // it may not
    expect(claim(drivers, cyd)).toBeNull()
  })
})
