import { Command, eventVersion } from '@holdfast/protocol'
import { stateAfter } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, events } from '../../testing/deciding.ts'
import { answerOf } from '../answer.ts'
import type { SessionState } from '../state.ts'
import { viewOf } from '../view.ts'

const pinned = stateAfter({ type: 'settings.changed', pinned: true })
const pin = (state: SessionState, to?: boolean) =>
  events(state, asked({ type: 'pinSession', ...(to !== undefined && { pinned: to }) }))

describe('pinning a session', () => {
  it('toggles or sets it, and records nothing when nothing changes', () => {
    expect(pin(stateAfter())).toEqual([{ type: 'settings.changed', pinned: true }])
    expect(pin(pinned)).toEqual([{ type: 'settings.changed', pinned: false }])
    expect(pin(stateAfter(), false)).toEqual([])
    expect(pin(pinned, true)).toEqual([])
    expect(pin(pinned, false)).toEqual([{ type: 'settings.changed', pinned: false }])
  })

  it('is no setting that a fork would inherit', () => {
    expect(pinned.isPinned).toBe(true)
    expect(pinned.settings).toEqual(stateAfter().settings)
  })
})

describe('renaming a session', () => {
  const rename = (state: SessionState, title: string) => events(state, asked({ type: 'rename', title }))

  it('sets its title, without the spaces around it', () => {
    expect(rename(stateAfter(), '  Harbour works ')).toEqual([{ type: 'settings.changed', title: 'Harbour works' }])
  })

  it('changes nothing when the title is the same', () => {
    expect(rename(stateAfter({ type: 'settings.changed', title: 'Harbour' }), 'Harbour')).toEqual([])
    expect(rename(stateAfter(), '')).toEqual([])
  })

  it.each(['two\nlines', 'a tab\t in it', '\u001b[31mred', 'a\u2028b', 'x'.repeat(201)])(
    'refuses what is no title: %j',
    (title) => {
      expect(Command.safeParse({ type: 'rename', title }).success).toBe(false)
    },
  )
})

describe('moving a session to another folder', () => {
  const trusted = stateAfter(
    { type: 'trust.granted', tool: 'shell', scope: 'workspace' },
    { type: 'trust.granted', tool: 'write_file', scope: 'session' },
  )
  const moved = stateAfter(
    { type: 'trust.granted', tool: 'shell', scope: 'workspace' },
    { type: 'trust.granted', tool: 'write_file', scope: 'session' },
    { type: 'settings.changed', workdir: '/new' },
  )

  it('takes the real path that was found for it', () => {
    const made = events(stateAfter(), asked({ type: 'moveWorkdir', workdir: '/link' }, { workdir: '/new' }))
    expect(made).toEqual([{ type: 'settings.changed', workdir: '/new' }])
    expect(events(moved, asked({ type: 'moveWorkdir', workdir: '/link' }, { workdir: '/new' }))).toEqual([])
  })

  it('drops the trust of the former workspace, and nothing else', () => {
    expect(trusted.trust).toHaveLength(2)
    expect(moved.trust).toEqual([{ tool: 'write_file', scope: 'session' }])
    expect(viewOf(moved).trust).toEqual(moved.trust)
    expect(moved.origin).toEqual({ ...trusted.origin, workdir: '/new' })
  })
})

describe('the answer to a catalogue command', () => {
  it.each([
    [{ type: 'settings.changed', pinned: false } as const, { pinned: false }],
    [{ type: 'settings.changed', title: '' } as const, { title: '' }],
    [{ type: 'settings.changed', workdir: '/new' } as const, { workdir: '/new' }],
    [{ type: 'settings.changed', mode: 'plan' } as const, {}],
  ])('is what its record says: %j', (event, result) => {
    expect(answerOf({ seq: 7, at: '', v: eventVersion[event.type], event })).toEqual({ seq: 7, result })
  })
})
