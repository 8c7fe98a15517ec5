import { expect, it } from 'vitest'
import { helpRows } from './help-view.ts'

const shown = (rows: readonly (readonly [string, string])[], width: number) =>
  helpRows([{ heading: 'Slash commands', rows }], width).map((row) =>
    row
      .map(({ text }) => text)
      .join('')
      .trimEnd(),
  )

it('a long command has a row of its own, and its text does not touch it', () => {
  const rows = [
    ['/quit', 'leave'],
    ['/export [file.md|html|json|jsonl]', 'write the session to a file'],
  ] as const
  expect(shown(rows, 80)).toEqual([
    'Slash commands',
    '  /quit                   leave',
    '  /export [file.md|html|json|jsonl]',
    '                          write the session to a file',
  ])
})

it('a text that does not fit goes on below itself', () => {
  expect(shown([['Esc', 'stop the turn; twice when idle: go back to a turn']], 50)).toEqual([
    'Slash commands',
    '  Esc               stop the turn; twice when',
    '                    idle: go back to a turn',
  ])
})
