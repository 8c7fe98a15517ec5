import { ok } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createFakeHandle } from '../testing/fake-handle.ts'
import { createSession } from './session.ts'

describe('how a session is kept', () => {
  it('is said by the commands of these names', async () => {
    const { handle, submitted } = createFakeHandle()
    const session = createSession(handle)
    const as = 'tab-1'
    await session.pinSession({ as })
    await session.pinSession({ pinned: false })
    await session.rename('Harbour works', { as })
    await session.moveWorkdir('/elsewhere')
    expect(submitted).toEqual([
      [{ type: 'pinSession' }, { as }],
      [{ type: 'pinSession', pinned: false }, {}],
      [{ type: 'rename', title: 'Harbour works' }, { as }],
      [{ type: 'moveWorkdir', workdir: '/elsewhere' }, undefined],
    ])
  })

  it('tells whether it is pinned now, also where nothing had to change', async () => {
    const answering = (result: Record<string, unknown>) =>
      createSession({ ...createFakeHandle().handle, submit: async () => ok({ seq: 1, result }) })
    expect(await answering({ pinned: true }).pinSession()).toBe(true)
    expect(await answering({ pinned: false }).pinSession()).toBe(false)
    expect(await answering({}).pinSession({ pinned: true })).toBe(true)
  })
})
