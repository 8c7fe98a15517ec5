import { type CommandInput, fault, type ListedBoundary, ok, refuse } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { boundaryCommand } from '../../sessions/boundary-command.ts'
import { statusRow } from '../render/status.ts'
import type { StyledLine } from '../term/lines.ts'
import { boundaryRows, showBoundaries } from './boundaries-view.ts'
import { createRestoreView } from './files-view.ts'
import type { FullView } from './full-view.ts'

const textOf = (rows: readonly StyledLine[]) => rows.map((row) => row.map(({ text }) => text).join(''))

function createHost() {
  const opened: FullView[] = []
  const notices: string[] = []
  const host = {
    redraw: () => undefined,
    close: () => void opened.pop(),
    open: (view: FullView) => void opened.push(view),
    notice: (text: string) => void notices.push(text),
  }
  const drawn = () => textOf(opened.at(-1)?.draw({ columns: 100, rows: 24 }).rows ?? [])
  return { host, notices, drawn }
}

describe('/boundaries', () => {
  const bounded: readonly ListedBoundary[] = [
    { path: 'a.ts', start: 2, end: 8 },
    { path: 'b.ts', start: 0, end: 0, suspended: 'b.ts is gone. No tool may create it until a person puts it back.' },
  ]

  it('shows which lines tools may change, and why nothing may be changed', () => {
    const rows = textOf(boundaryRows(bounded, 100))
    expect(rows.slice(0, 4)).toEqual([
      'Tools may change only these lines of these files:',
      'lines 3–9 of a.ts',
      'nothing of b.ts',
      'b.ts is gone. No tool may create it until a person puts it back.',
    ])
    expect(textOf(boundaryRows([], 100))[0]).toBe('The session has no edit boundaries: tools may change every line.')
  })

  it.each<[string, CommandInput]>([
    ['a.ts 3-9', { type: 'setBoundary', path: 'a.ts', start: 2, end: 8 }],
    ['with space.ts 3', { type: 'setBoundary', path: 'with space.ts', start: 2, end: 2 }],
    ['clear a.ts', { type: 'clearBoundary', path: 'a.ts' }],
    ['clear', { type: 'clearAllBoundaries' }],
  ])('takes %j', (given, command) => expect(boundaryCommand(given)).toEqual(command))

  it.each(['a.ts', 'a.ts 9-3', 'a.ts 0', '3-9'])('says how it is used if it is given %j', (given) =>
    expect(boundaryCommand(given)).toContain('/boundaries <file> <lines> sets one'),
  )

  it('carries a command out before it shows the list, and shows why it was refused', async () => {
    const { host, notices, drawn } = createHost()
    const sent: CommandInput[] = []
    const handle = { boundaries: async () => ok(bounded) }
    const send = async (command: CommandInput) => {
      sent.push(command)
      return { ok: sent.length === 1 }
    }
    await showBoundaries(handle, 'a.ts 3-9', send, host)
    expect(drawn().join('\n')).toContain('lines 3–9 of a.ts')
    host.close()
    await showBoundaries(handle, 'a.ts 3-9', send, host)
    expect([sent.length, drawn()]).toEqual([2, []])
    await showBoundaries({ boundaries: async () => refuse(fault('storage_error', 'gone')) }, '', send, host)
    expect(notices).toEqual(['gone'])
  })

  it('is hinted at by the status line', () => {
    const view = {
      mode: 'exec',
      pendingApprovals: [],
      activity: 'idle',
      lastTurn: null,
      model: 'demo/agent',
      fallback: null,
      thinkingLevel: 'off',
      branch: null,
      boundaries: bounded,
      context: { tokens: 0 },
    }
    const facts = { view, meta: { usage: { cost: 0 } }, here: null, presence: [], connection: { state: 'live' } }
    // Only what the line shows.
    const shown = (boundaries: readonly ListedBoundary[]) =>
      textOf([statusRow({ ...facts, view: { ...view, boundaries } } as never, 200, '')])[0]
    expect(shown(bounded)).toContain('2 files bounded')
    expect(shown(bounded.slice(1))).toContain('1 file bounded')
    expect(shown([])).not.toContain('bounded')
  })
})

it('the preview of a restore counts a move as one file, and not what stays as it is', () => {
  const { host } = createHost()
  const files = [
    { path: 'old.ts', action: 'recreate' as const, movedFrom: 'new.ts', diff: '' },
    { path: 'new.ts', action: 'delete' as const, movedTo: 'old.ts', diff: '' },
    { path: 'same.ts', action: 'none' as const, diff: '' },
  ]
  const view = createRestoreView({ files, refused: [] }, 'Go back?', () => undefined, host)
  const rows = textOf(view.draw({ columns: 80, rows: 24 }).rows)
  expect(rows).toContain('1 file would be put back:')
  expect(rows).toContain('old.ts  moved back from new.ts')
  expect(rows).toContain('same.ts  stays as it is')
  expect(rows.some((row) => row.startsWith('new.ts'))).toBe(false)
})
