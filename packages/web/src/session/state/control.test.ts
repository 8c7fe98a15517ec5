import { ClientId, type Role } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { seatOf } from './control.ts'

const at = (client: string, role: Role) => ({ client: ClientId.parse(client), role })

describe('the seat of a page', () => {
  it('holds nothing back before it knows who is there', () => {
    expect(seatOf({ client: 'me', presence: [] })).toMatchObject({ isDriving: false, watching: null })
  })

  it('says who drives to one who watches', () => {
    const seat = seatOf({ client: 'me', presence: [at('you', 'driver'), at('me', 'viewer')] })
    expect(seat).toMatchObject({ driver: 'you', watching: 'You are watching. you drives this session.' })
    expect(seat.others).toEqual([at('you', 'driver')])
  })

  it('says that nobody drives', () => {
    expect(seatOf({ client: 'me', presence: [at('me', 'viewer')] })).toMatchObject({
      driver: null,
      watching: 'You are watching. Nobody drives this session.',
    })
  })

  it('lets the driver drive', () => {
    expect(seatOf({ client: 'me', presence: [at('me', 'driver')] })).toMatchObject({ isDriving: true, watching: null })
  })
})
