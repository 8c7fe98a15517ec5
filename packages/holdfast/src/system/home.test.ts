import { describe, expect, it } from 'vitest'
import { findHome } from './home.ts'

describe('the home of Holdfast', () => {
  it('follows the XDG variables, or HOLDFAST_HOME', () => {
    expect(findHome({ HOME: '/home/ada' })).toMatchObject({
      storePath: '/home/ada/.local/share/holdfast/holdfast.db',
      configDir: '/home/ada/.config/holdfast',
      stateDir: '/home/ada/.local/state/holdfast',
    })
    expect(findHome({ HOME: '/home/ada', XDG_DATA_HOME: '/data' }).storePath).toBe('/data/holdfast/holdfast.db')
    const moved = findHome({ HOME: '/home/ada', XDG_DATA_HOME: '/data', HOLDFAST_HOME: '/trial' })
    expect([moved.dataDir, moved.configDir, moved.stateDir]).toEqual(['/trial/data', '/trial/config', '/trial/state'])
  })

  it('ignores a relative XDG directory', () => {
    expect(findHome({ HOME: '/home/ada', XDG_DATA_HOME: 'data' }).dataDir).toBe('/home/ada/.local/share/holdfast')
  })
})
