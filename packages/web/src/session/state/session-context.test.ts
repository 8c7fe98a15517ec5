import { ClientId, type Role } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { controlOf } from './session-context.ts'

const at = (client: string, role: Role) => ({ client: ClientId.parse(client), role })

describe('controlOf', () => {
  it('disables nothing before the first presence frame', () => {
    expect(controlOf({ client: 'me', connection: { state: 'live' }, presence: [] })).toMatchObject({
      isDriving: false,
      watching: null,
    })
  })

  it('names the driver to a viewer', () => {
    const control = controlOf({
      client: 'me',
      connection: { state: 'live' },
      presence: [at('you', 'driver'), at('me', 'viewer')],
    })
    expect(control).toMatchObject({ driver: 'you', watching: 'You are watching. In control: you.' })
    expect(control.others).toEqual([at('you', 'driver')])
  })

  it('disables nothing for a viewer if nobody drives: the next command takes control', () => {
    expect(controlOf({ client: 'me', connection: { state: 'live' }, presence: [at('me', 'viewer')] })).toMatchObject({
      driver: null,
      isSeatFree: true,
      watching: null,
    })
  })

  it('disables nothing for the driver', () => {
    expect(controlOf({ client: 'me', connection: { state: 'live' }, presence: [at('me', 'driver')] })).toMatchObject({
      isDriving: true,
      watching: null,
    })
  })

  it('disables everything while the connection is lost, also for the driver', () => {
    const connection = { state: 'waiting', retryMs: 1000, fault: null } as const
    const control = controlOf({ client: 'me', connection, presence: [at('me', 'driver')] })
    expect(control).toMatchObject({ isLost: true, watching: expect.stringContaining('connection is lost') })
  })
})
