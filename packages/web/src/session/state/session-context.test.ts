import { ClientId, type Role } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { controlOf } from './session-context.ts'

const at = (client: string, role: Role) => ({ client: ClientId.parse(client), role })

describe('controlOf', () => {
  it('disables nothing before the first presence frame', () => {
    expect(controlOf({ client: 'me', presence: [] })).toMatchObject({ isDriving: false, watching: null })
  })

  it('names the driver to a viewer', () => {
    const control = controlOf({ client: 'me', presence: [at('you', 'driver'), at('me', 'viewer')] })
    expect(control).toMatchObject({ driver: 'you', watching: 'You are watching. you is the driver.' })
    expect(control.others).toEqual([at('you', 'driver')])
  })

  it('says that there is no driver', () => {
    expect(controlOf({ client: 'me', presence: [at('me', 'viewer')] })).toMatchObject({
      driver: null,
      watching: 'You are watching. This session has no driver.',
    })
  })

  it('disables nothing for the driver', () => {
    expect(controlOf({ client: 'me', presence: [at('me', 'driver')] })).toMatchObject({
      isDriving: true,
      watching: null,
    })
  })
})
